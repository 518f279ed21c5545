"""Objects in lists, a table of another's shape, layers in a loop of the graph."""

import numpy as np
import tensorflow as tf


def start(shape, dtype=None, partition_info=None):
    size = int(np.prod(shape))
    values = np.sin(np.arange(size) + len(shape)) / 2
    return tf.constant(values.reshape(shape).astype("float32"))


class Block(object):
    def __init__(self, name, size):
        self.name, self.size = name, size
        self.out = None

    def __call__(self, x):
        with tf.variable_scope(self.name):
            x = tf.layers.dense(x, self.size, tf.nn.tanh, kernel_initializer=start)
            self.out = tf.layers.dense(x, 3, name="out", kernel_initializer=start)
        return self.out

    def loss_of_squares(self):
        return tf.reduce_mean(tf.square(self.out))

    def loss_of_absolutes(self):
        return tf.reduce_mean(tf.abs(self.out))

    def loss(self, kind):
        return getattr(self, "loss_of_" + kind)()


def gate(x, h, name, size):
    with tf.variable_scope(name):
        within = tf.get_variable("within", [x.shape[-1], size], initializer=start)
        kept = tf.get_variable("kept", [size, size], initializer=start)
        return tf.matmul(x, within) + tf.matmul(h, kept)


def rounds(x, size):
    def again(number, h):
        forget = tf.sigmoid(gate(x, h, "forget", size))
        return number + 1, forget * h + (1.0 - forget) * tf.tanh(gate(x, h, "new", size))

    zeros = tf.zeros([tf.shape(x)[0], size])
    with tf.variable_scope("rounds"):
        _, last = tf.while_loop(lambda number, _: number < 3, again, [0, zeros])
    last.set_shape([None, size])
    return last


def head(x, wide):
    return (
        tf.layers.dense(x, 7, name="wide", kernel_initializer=start)
        if wide
        else tf.layers.dense(tf.nn.tanh(x), 1, name="narrow", kernel_initializer=start)
    )


class Net(object):
    def __init__(self, table, sizes):
        self.table = table
        self.blocks = [Block("block_%d" % i, size) for i, size in enumerate(sizes)]

    def get_model_fn(self):
        def model_fn(features, labels, mode, params):
            words = tf.get_variable(
                "words",
                self.table.shape,
                initializer=tf.constant_initializer(self.table),
                trainable=False,
            )
            offsets = tf.get_variable(
                "offsets", [self.table.shape[0], 3], initializer=start
            )
            found = tf.nn.embedding_lookup(words, features["word"])
            net = tf.concat([features["x"], found], 1)
            for block in self.blocks:
                net = block(net)
            net += tf.nn.embedding_lookup(offsets, features["word"])
            net = rounds(net, 4)
            out = head(net, params["wide"])
            loss = tf.losses.mean_squared_error(labels, out)
            for block in self.blocks:
                loss += 0.01 * block.loss(params["kind"])
            if mode == tf.estimator.ModeKeys.EVAL:
                return tf.estimator.EstimatorSpec(mode, loss=loss)
            train_op = tf.train.MomentumOptimizer(0.05, 0.9).minimize(
                loss, tf.train.get_global_step()
            )
            return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

        return model_fn


def data():
    draw = np.random.RandomState(3)
    x = draw.normal(size=(32, 4)).astype("float32")
    y = x[:, :1] - 2.0 * x[:, 1:2]
    word = draw.randint(0, 5, size=32)
    return tf.data.Dataset.from_tensor_slices(({"x": x, "word": word}, y)).batch(8)


def forever():
    return data().repeat()


table = np.cos(np.arange(10.0)).reshape(5, 2).astype("float32")
estimator = tf.estimator.Estimator(
    Net(table, [4, 5]).get_model_fn(),
    model_dir=DIRECTORY,
    config=tf.estimator.RunConfig(train_distribute=STRATEGY, tf_random_seed=1),
    params={"wide": False, "kind": "squares"},
)
estimator.train(forever, max_steps=STEPS)
RESULT = dict(estimator.evaluate(data))
for name in estimator.get_variable_names():
    RESULT[name] = np.sum(np.abs(estimator.get_variable_value(name)))
