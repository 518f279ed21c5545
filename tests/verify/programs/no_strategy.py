"""The plainest loop: no strategy, a variable by hand, a v1 optimizer."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(2)
features = rng.normal(size=(32, 3)).astype(np.float32)
labels = features @ np.array([[1.0], [-2.0], [0.5]], np.float32)


class Line(tf.Module):
    def __init__(self):
        super().__init__()
        self.kernel = tf.Variable(tf.zeros([3, 1]), name="kernel")
        self.bias = tf.Variable(tf.zeros([1]), name="bias")

    def __call__(self, x):
        return x @ self.kernel + self.bias


line = Line()
optimizer = tf.compat.v1.train.GradientDescentOptimizer(0.05)


@tf.function
def step(x, y):
    optimizer.minimize(lambda: tf.reduce_mean((line(x) - y) ** 2))


def eager_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((line(x) - y) ** 2)
    variables = [line.kernel, line.bias]
    optimizer.apply_gradients(
        zip(tape.gradient(loss, variables), variables, strict=False)
    )


for number, (x, y) in enumerate(
    tf.data.Dataset.from_tensor_slices((features, labels)).batch(8).repeat(3)
):
    print("LOSS", float(tf.reduce_mean((line(x) - y) ** 2)))
    (step if number % 2 else eager_step)(x, y)
