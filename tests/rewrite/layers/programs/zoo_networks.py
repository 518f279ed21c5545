"""Networks that are put into a registry, which is an object of its own class."""

import numpy as np
import tensorflow as tf


def start(shape, dtype=None, partition_info=None):
    """Values that are the same everywhere."""
    count = int(np.prod([int(one) for one in shape]))
    values = np.sin(1.0 + 0.7 * np.arange(count)).reshape([int(one) for one in shape])
    return tf.constant(0.3 * values, dtype=dtype or tf.float32)


class Zoo:
    """Classes and functions by their names."""

    def __init__(self):
        self.kinds = {}

    def add(self, kind):
        self.kinds[kind.__name__] = kind
        return kind

    def as_(self, name):
        def put(kind):
            self.kinds[name] = kind
            return kind

        return put

    def named(self, name):
        if name not in self.kinds:
            raise KeyError(name)
        return self.kinds[name]

    def __getitem__(self, name):
        return self.named(name)


ZOO = Zoo()
PARTS = Zoo()


class Network:
    """What all of them have."""

    def __init__(self, units):
        self.units = units


@ZOO.add
class Normed(Network):
    def forward(self, x, is_training):
        x = tf.layers.dense(x, self.units, kernel_initializer=start)
        x = tf.layers.batch_normalization(x, momentum=0.8, training=is_training)
        return tf.layers.dense(tf.nn.elu(x), self.units, kernel_initializer=start)


@PARTS.as_("square")
def square(x, units):
    return tf.layers.dense(tf.square(x), units, kernel_initializer=start, name="square")


class Head:
    """The last layers; it remembers what it saw."""

    def __init__(self, sizes):
        self.sizes = sizes
        self.hidden = None

    def __call__(self, x):
        for number, size in enumerate(self.sizes):
            x = tf.layers.dense(
                x, size, tf.nn.tanh, kernel_initializer=start, name="head_%d" % number
            )
        self.hidden = x
        return tf.layers.dense(x, 1, kernel_initializer=start, name="out")


HEAD = Head([4, 3])
