"""``legacy_line.py`` as a plain TF2 loop, with mistakes to switch on."""

import os

import numpy as np
import tensorflow as tf
import tf_keras

EPOCHS = int(os.environ.get("EPOCHS", "3"))
MISTAKE = os.environ.get("MISTAKE")

strategy = tf.distribute.MirroredStrategy()


def dataset_fn(epochs):
    def make(context):
        rng = np.random.RandomState(0)
        x = rng.normal(size=(64, 4)).astype(np.float32)
        y = (x.sum(axis=1) > 0).astype(np.int32)
        dataset = tf.data.Dataset.from_tensor_slices((x, y))
        return dataset.shuffle(64).repeat(epochs).batch(8)

    return strategy.distribute_datasets_from_function(make)


with strategy.scope():
    model = tf_keras.Sequential(
        [
            tf_keras.layers.Dense(8, activation="tanh", input_shape=(4,)),
            tf_keras.layers.Dense(2),
        ]
    )
    epsilon = 1e-7 if MISTAKE == "epsilon" else 1e-8
    optimizer = tf_keras.optimizers.Adam(0.01, epsilon=epsilon)
    optimizer.build(model.trainable_variables)
    accuracy = tf_keras.metrics.SparseCategoricalAccuracy(name="test_accuracy")


def train_step(inputs):
    x, y = inputs
    with tf.GradientTape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x))
        loss = 1e-4 * tf.nn.compute_average_loss(losses, global_batch_size=16)
        if MISTAKE == "l2":
            weights = [tf.nn.l2_loss(v) for v in model.trainable_variables]
            loss += tf.nn.scale_regularization_loss(1e-8 * tf.add_n(weights))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))


@tf.function
def train(iterator):
    for inputs in iterator:
        strategy.run(train_step, args=(inputs,))


@tf.function
def evaluate(iterator):
    def test_step(inputs):
        accuracy.update_state(inputs[1], model(inputs[0]))

    for inputs in iterator:
        strategy.run(test_step, args=(inputs,))


train(iter(dataset_fn(EPOCHS)))
evaluate(iter(dataset_fn(1)))
print("accuracy", float(accuracy.result()))
