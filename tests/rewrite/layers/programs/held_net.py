"""A network as an object: methods make its layers, attributes keep what they give."""

import tensorflow as tf


def start(shape, dtype=None, partition_info=None):
    """Values that are the same everywhere."""
    count = 1
    for size in shape:
        count *= int(size)
    return tf.reshape(tf.sin(tf.range(1.0, count + 1.0)) * 0.5, shape)


class Base:
    def __init__(self, sizes):
        self.sizes = sizes
        self.seen = None

    def _normalized(self, x):
        if self.is_training:
            tf.logging.info("it trains")
        return tf.layers.batch_normalization(x, training=self.is_training)


class Net(Base):
    def __init__(self, sizes, is_training):
        super().__init__(sizes)
        self.is_training = is_training
        self.kind = "plain"

    def build(self, x):
        """Keeps what it sees."""
        decay = tf.keras.regularizers.l2(0.005)
        for i, size in enumerate(self.sizes):
            x = tf.layers.dense(
                x, size, name="seen_%d" % i, kernel_initializer=start,
                kernel_regularizer=decay, use_bias=False,
            )  # fmt: skip
            x = self._normalized(x)
        self.seen = tf.layers.dense(x, 3, tf.nn.relu, kernel_initializer=start)

    def __call__(self, x):
        with tf.variable_scope("called"):
            if self.kind == "plain":
                y = tf.layers.dense(x, 2, kernel_initializer=start)
            elif self.kind == "none":
                raise ValueError("no such kind")
            else:
                raise ValueError("none at all")
            return tf.layers.dense(y, 2, kernel_initializer=start)
