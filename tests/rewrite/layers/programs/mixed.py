"""Layers of Keras and of the author's own classes among those of tf.layers."""

import shutil

import numpy as np
import tensorflow as tf


def start(shape, dtype=None, partition_info=None):
    """Values that are the same everywhere."""
    count = 1
    for size in shape:
        count *= int(size)
    return tf.reshape(tf.sin(tf.range(1.0, count + 1.0)) * 0.5, shape)


class Gate(tf.keras.layers.Layer):
    """A layer of the author's own, of Keras."""

    def build(self, shape):
        size = int(shape[-1])
        self.gate = self.add_weight("gate", [size], initializer=start)
        super().build(shape)

    def call(self, x):
        return x * tf.nn.sigmoid(self.gate)


class Scale(tf.layers.Layer):
    """One of tf.layers."""

    def build(self, shape):
        size = int(shape[-1])
        self.scale = self.add_weight("scale", [size], initializer=start)
        super().build(shape)

    def call(self, x):
        return x * self.scale


def deeper(x, units):
    """A helper with both kinds."""
    x = tf.layers.dense(x, units, kernel_initializer=start)
    x = tf.keras.layers.PReLU(alpha_initializer=start)(x)
    return tf.layers.dense(x, units, kernel_initializer=start)


def model_fn(features, labels, mode, params):
    net = tf.layers.dense(features["x"], 3, kernel_initializer=start)
    net = Gate()(net)
    with tf.variable_scope("part"):
        net = tf.layers.dense(net, params["units"], kernel_initializer=start)
        net = Gate()(net)
        net = Scale()(net)
        net = deeper(net, 3)
    scale = Scale(name="last_scale")
    net = scale(net) + scale(net * 0.5)
    kernel = tf.keras.layers.LocallyConnected1D(2, 1, kernel_initializer=start)
    net = tf.squeeze(kernel(net[:, None]), 1)
    out = tf.layers.dense(net, 1, kernel_initializer=start)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"out": out})
    loss = tf.losses.mean_squared_error(labels, out)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    optimizer = tf.train.AdagradOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    draw = np.random.RandomState(3)
    x = draw.normal(size=(32, 4)).astype("float32")
    y = x[:, :1] - 2.0 * x[:, 1:2]
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).batch(8)


def forever():
    return data().repeat()


estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=DIRECTORY,
    config=tf.estimator.RunConfig(train_distribute=STRATEGY, tf_random_seed=1),
    params={"units": 4},
)
estimator.train(forever, max_steps=STEPS)
RESULT = dict(estimator.evaluate(data))
for name in estimator.get_variable_names():
    RESULT[name] = np.sum(np.abs(estimator.get_variable_value(name)))
