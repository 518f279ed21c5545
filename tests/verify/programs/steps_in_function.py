"""Several steps in one call, batch norm, a v1-style input: no Python per step."""

import os

import numpy as np
import tensorflow as tf
import tf_keras

BATCH = 4
CALLS, STEPS = (int(n) for n in os.environ.get("CALLS", "4x5").split("x"))
rng = np.random.default_rng(1)
features = rng.normal(size=(64, 3)).astype(np.float32)
labels = np.tanh(features @ np.array([[1.0], [-2.0], [0.5]], np.float32))

strategy = tf.distribute.MirroredStrategy(devices=["/gpu:0", "/gpu:1"])


def dataset_fn(context):
    dataset = tf.data.Dataset.from_tensor_slices((features, labels))
    return dataset.shuffle(64).repeat().batch(BATCH).prefetch(2)


with strategy.scope():
    model = tf_keras.Sequential(
        [
            tf_keras.layers.Dense(4, input_shape=(3,)),
            tf_keras.layers.BatchNormalization(),
            tf_keras.layers.Dense(1),
        ]
    )
    optimizer = tf_keras.optimizers.SGD(0.05, momentum=0.9)
    optimizer.build(model.trainable_variables)

iterator = iter(strategy.distribute_datasets_from_function(dataset_fn))


@tf.function(jit_compile=False)
def train_steps(iterator, steps):
    def step_fn(inputs):
        x, y = inputs
        with tf.GradientTape() as tape:
            error = tf.reduce_sum((model(x, training=True) - y) ** 2, axis=-1)
            loss = tf.nn.compute_average_loss(
                error, global_batch_size=BATCH * strategy.num_replicas_in_sync
            )
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(
            zip(gradients, model.trainable_variables, strict=False)
        )
        return loss

    losses = tf.TensorArray(tf.float32, size=steps)
    for number in tf.range(steps):
        shares = strategy.run(step_fn, args=(next(iterator),))
        loss = strategy.reduce(tf.distribute.ReduceOp.SUM, shares, axis=None)
        losses = losses.write(number, loss)
    return losses.stack()


for _ in range(CALLS):
    for loss in train_steps(iterator, tf.constant(STEPS)).numpy():
        print("LOSS", float(loss))
