"""The bundled legacy program as an expert would write it for TF2 by hand.

The yardstick for speed, and a second opinion for parity: nothing in it was
generated. Settings come from the environment, as in the legacy program.
"""

import os
import time

import numpy as np
import tensorflow as tf
import tf_keras

BATCH_SIZE = int(os.environ.get("BATCH_SIZE", "512"))  # of each replica
EPOCHS = int(os.environ.get("EPOCHS", "5"))
CLASSES = 10


def load(images, labels):
    images = images.astype(np.float32).reshape(-1, 28, 28, 1) / 255
    return images, tf_keras.utils.to_categorical(labels, CLASSES)


train, test = tf_keras.datasets.fashion_mnist.load_data()
train, test = load(*train), load(*test)

strategy = tf.distribute.MirroredStrategy()
replicas = strategy.num_replicas_in_sync


def batches(data, epochs):
    def dataset(context):
        examples = tf.data.Dataset.from_tensor_slices(data)
        examples = examples.shuffle(5000).repeat(epochs).batch(BATCH_SIZE)
        return examples.prefetch(tf.data.AUTOTUNE)

    return strategy.distribute_datasets_from_function(dataset)


with strategy.scope():
    model = tf_keras.Sequential(
        [
            tf_keras.layers.Conv2D(32, 3, activation="relu", input_shape=(28, 28, 1)),
            tf_keras.layers.MaxPooling2D(2, 2),
            tf_keras.layers.Conv2D(64, 3, activation="relu"),
            tf_keras.layers.MaxPooling2D(2, 2),
            tf_keras.layers.Conv2D(64, 3, activation="relu"),
            tf_keras.layers.Flatten(),
            tf_keras.layers.Dense(64, activation="relu"),
            tf_keras.layers.Dense(CLASSES, activation="softmax"),
        ]
    )
    optimizer = tf_keras.optimizers.Adam(0.001, epsilon=1e-8)
    optimizer.build(model.trainable_variables)
    test_accuracy = tf_keras.metrics.CategoricalAccuracy(name="test_accuracy")


def train_step(inputs):
    images, labels = inputs
    with tf.GradientTape() as tape:
        losses = tf_keras.losses.categorical_crossentropy(
            labels, model(images, training=True)
        )
        context = tf.distribute.get_replica_context()
        count = context.all_reduce("SUM", tf.cast(tf.shape(labels)[0], tf.float32))
        loss = tf.reduce_sum(losses) / count
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))


@tf.function
def distributed_train_step(inputs):
    strategy.run(train_step, args=(inputs,))


@tf.function
def distributed_test_step(inputs):
    def test_step(inputs):
        images, labels = inputs
        test_accuracy.update_state(labels, model(images, training=False))

    strategy.run(test_step, args=(inputs,))


times = []
start = time.time()
for inputs in batches(train, EPOCHS):
    distributed_train_step(inputs)
    times.append(time.time() - start)
    start = time.time()

print(f"{BATCH_SIZE * replicas / np.mean(times):.1f} images/second", flush=True)

for inputs in batches(test, 1):
    distributed_test_step(inputs)
print(f"accuracy {float(test_accuracy.result()):.4f}")
