"""Two trainings in one program, of models with the same shapes: one compiled, one not."""

import os

import numpy as np
import tensorflow as tf
import tf_keras

rng = np.random.default_rng(4)
features = rng.normal(size=(40, 3)).astype(np.float32)
labels = features @ np.array([[1.0], [-2.0], [0.5]], np.float32)
data = tf.data.Dataset.from_tensor_slices((features, labels)).batch(4)


def train(name, rate, epochs, compiled):
    model = tf_keras.Sequential([tf_keras.layers.Dense(1, input_shape=(3,))])
    optimizer = tf_keras.optimizers.SGD(rate)

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((model(x) - y) ** 2)
        variables = model.trainable_variables
        optimizer.apply_gradients(
            zip(tape.gradient(loss, variables), variables, strict=True)
        )
        return loss

    one_step = tf.function(step) if compiled else step
    for x, y in data.repeat(epochs):
        print(name, float(one_step(x, y)))
    print("weights", name, model.layers[0].kernel.numpy().ravel().tolist())


for number, name in enumerate(os.environ.get("ORDER", "first,second").split(",")):
    train(
        name, 0.1 if name == "first" else 0.02, 1 if name == "first" else 2, number == 0
    )
