"""Layers by functions: contrib and slim, arg_scope, cells; and some of Keras."""

import functools

import numpy as np
import tensorflow as tf
from tensorflow.contrib import layers, slim
from tensorflow.contrib.framework import add_arg_scope, arg_scope


def start(shape, dtype=None, partition_info=None):
    """Values that are the same everywhere."""
    count = int(np.prod([int(one) for one in shape]))
    values = np.sin(1.0 + 0.7 * np.arange(count)).reshape([int(one) for one in shape])
    return tf.constant(0.3 * values, dtype=dtype or tf.float32)


@add_arg_scope
def unit(x, depth, scale=0.3, scope=None):
    with tf.variable_scope(scope, "unit", [x]):
        y = slim.conv2d(x, depth, [3, 3], scope="conv")
        return x + scale * slim.conv2d(y, x.shape[-1].value, 1, activation_fn=None)


def places(x):
    """Layers without a name are counted in each scope."""
    for name in ("left", "right"):
        with tf.variable_scope(name):
            x = tf.layers.conv2d(x, 2, 3, padding="same", kernel_initializer=start)
            x = tf.layers.separable_conv2d(
                x, 2, 1, depthwise_initializer=start, pointwise_initializer=start
            )
    return tf.layers.conv2d(x, 2, 1, kernel_initializer=start)


def picture(x, is_training, params):
    x = places(x)
    for number in range(2):
        x = unit(x, 3, scope="unit_%d" % number)
    norm = {"is_training": is_training, "decay": 0.8, "scale": True}
    with slim.arg_scope(
        [slim.conv2d, slim.fully_connected],
        activation_fn=tf.nn.softplus,
        weights_initializer=start,
        weights_regularizer=slim.l2_regularizer(params["decay"]),
        normalizer_fn=slim.batch_norm,
        normalizer_params=norm,
    ):
        net = slim.conv2d(x, 3, [3, 3], stride=2, scope="first")
        net = slim.repeat(net, 2, slim.conv2d, 4, [3, 3], scope="again")
        net = slim.separable_conv2d(
            net, 5, 3, 1, weights_initializer=start, normalizer_fn=None
        )
        net = slim.max_pool2d(net, 2)
        net = slim.flatten(net)
        net = slim.fully_connected(net, 6)
        return slim.fully_connected(net, net.shape[-1].value - 2, activation_fn=None)


def words(x, lengths, params, is_training):
    """Recurrent networks of several kinds."""
    init = tf.random_uniform_initializer(-0.1, 0.1) if params["drawn"] else start
    with tf.variable_scope("words"):
        x = tf.layers.dense(
            x, params["units"], activation=tf.nn.tanh, kernel_initializer=init
        )
        cells = []
        for size in params["sizes"]:
            cell = tf.nn.rnn_cell.LSTMCell(size, initializer=init)
            if params["kept"] < 1:
                cell = tf.nn.rnn_cell.DropoutWrapper(cell, params["kept"])
            cells.append(cell)
        stacked = tf.nn.rnn_cell.MultiRNNCell(cells)
        outputs, state = tf.nn.dynamic_rnn(stacked, x, lengths, dtype=tf.float32)
        forward = tf.contrib.rnn.GRUCell(2)
        backward = tf.contrib.rnn.BasicLSTMCell(2, forget_bias=0.5)
        both, _ = tf.nn.bidirectional_dynamic_rnn(
            forward, backward, outputs, sequence_length=lengths, dtype=tf.float32
        )
        steps = tf.unstack(outputs, axis=1)
        with tf.variable_scope("steps"):
            last, _ = tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(2), steps, dtype=tf.float32)
        parts = [state[-1].h, both[0][:, -1], both[1][:, 0], last[-1]]
        return tf.concat(parts, 1)


class Gate(tf.keras.layers.Layer):
    """A layer of the author's own, of Keras."""

    def build(self, shape):
        size = int(shape[-1])
        self.gate = self.add_weight("gate", [size], initializer=start)
        super().build(shape)

    def call(self, x):
        return x * tf.nn.sigmoid(self.gate)


def model_fn(features, labels, mode, params):
    is_training = mode == tf.estimator.ModeKeys.TRAIN
    with tf.variable_scope("picture"):
        seen = picture(features["image"], is_training, params)
    with tf.variable_scope("read"):
        said = words(features["words"], features["length"], params, is_training)
    with arg_scope([layers.fully_connected], weights_initializer=start):
        seen = layers.layer_norm(seen, scope="norm")
        net = tf.concat([seen, said], 1)
        net = layers.fully_connected(
            net, 5, tf.nn.elu, scope="joined"
        )
        net = layers.stack(net, layers.fully_connected, [4, 3], scope="stack")
    wide = functools.partial(tf.layers.dense, kernel_initializer=start)
    sized = net.get_shape().as_list()[1]
    net = wide(net, sized, use_bias=False, name="wide")
    shared = tf.layers.Dense(2, kernel_initializer=start, name="shared")
    net = tf.concat([shared(net), shared(net[:, ::-1])], 1)
    rate = tf.get_variable("rate", [4], initializer=tf.ones_initializer())
    net = tf.layers.dense(net * rate, 3, kernel_initializer=start)
    net = Gate()(net)
    out = tf.layers.dense(net, 1, kernel_initializer=start)
    if params["checkpoint"]:
        tf.train.init_from_checkpoint(
            params["checkpoint"], {"wide/": "wide/", "picture/first/": "picture/first/"}
        )
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"out": out})
    tf.losses.mean_squared_error(labels, out)
    loss = tf.losses.get_total_loss()
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    step = tf.train.get_global_step()
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = tf.train.MomentumOptimizer(0.005, 0.5).minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
