"""Layers by functions: contrib and slim, arg_scope, cells, scopes that say a start."""

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
def unit(x, depth, scale=0.5, scope=None):
    with tf.variable_scope(scope, "unit", [x]):
        y = slim.conv2d(x, depth, [3, 3], scope="conv")
        return x + scale * slim.conv2d(y, x.shape[-1].value, 1, activation_fn=None)


def scopes(is_training, decay):
    """Arguments of every layer, as a function that returns a scope."""
    norm = {"is_training": is_training, "decay": 0.8, "scale": True}
    with slim.arg_scope(
        [slim.conv2d, slim.fully_connected],
        activation_fn=tf.nn.softplus,
        weights_initializer=start,
        weights_regularizer=slim.l2_regularizer(decay),
        normalizer_fn=slim.batch_norm,
        normalizer_params=norm,
    ):
        with slim.arg_scope([unit], scale=0.3) as found:
            return found


def places(x):
    """Layers without a name are counted in each scope."""
    for name in ("left", "right"):
        with tf.variable_scope(name):
            x = tf.layers.conv2d(x, 2, 3, padding="same", kernel_initializer=start)
            x = tf.layers.separable_conv2d(
                x, 2, 1, depthwise_initializer=start, pointwise_initializer=start
            )
    return tf.layers.conv2d(x, 2, 1, kernel_initializer=start)


def parts(x):
    """Loops whose rounds only the tensors tell."""
    columns = tf.split(x, 3, axis=1)
    found = []
    for number in range(len(columns)):
        found.append(
            tf.layers.dense(columns[number], 2, tf.nn.tanh, kernel_initializer=start)
        )
    more = [slim.bias_add(one, scope="bias_%d" % n) for n, one in enumerate(found)]
    return tf.add_n(more)


def picture(x, is_training, params):
    x = places(x)
    with slim.arg_scope(scopes(is_training, params["decay"])):
        net = slim.conv2d(x, 3, [3, 3], stride=2, scope="first")
        net = slim.repeat(net, 2, slim.conv2d, 4, [3, 3], scope="again")
        for number in range(2):
            net = unit(net, 3, scope="unit_%d" % number)
        net = slim.separable_conv2d(
            net, 5, 3, 1, weights_initializer=start, normalizer_fn=None
        )
        net = slim.max_pool2d(net, 2)
        net = slim.flatten(net)
        net = slim.fully_connected(net, 6)
        return slim.fully_connected(net, net.shape[-1].value - 2, activation_fn=None)


def words(x, lengths, params, is_training):
    """A recurrent network whose cells begin as the scope says."""
    init = tf.random_uniform_initializer(-0.1, 0.1) if params["drawn"] else start
    with tf.variable_scope("words", initializer=init):
        x = tf.layers.dense(x, params["units"], activation=tf.nn.tanh)
        cells = []
        for size in params["sizes"]:
            cell = tf.nn.rnn_cell.LSTMCell(size)
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
        by_hand = tf.nn.rnn_cell.BasicRNNCell(2)
        hidden = by_hand.zero_state(tf.shape(x)[0], tf.float32)
        with tf.variable_scope("by_hand") as scope:
            for number in range(2):
                if number:
                    scope.reuse_variables()
                out, hidden = by_hand(steps[number], hidden)
        parts = [state[-1].h, both[0][:, -1], both[1][:, 0], last[-1], out]
        return tf.concat(parts, 1)


def model_fn(features, labels, mode, params):
    is_training = mode == tf.estimator.ModeKeys.TRAIN
    with tf.variable_scope("picture"):
        seen = picture(features["image"], is_training, params)
    with tf.variable_scope("read", regularizer=layers.l2_regularizer(0.01)):
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
    rate = slim.model_variable("rate", [4], initializer=tf.ones_initializer())
    net = tf.layers.dense(net * rate, 3, kernel_initializer=start)
    net = tf.concat([net, parts(net)], 1)
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


def data():
    draw = np.random.RandomState(3)
    image = draw.normal(size=(32, 8, 8, 2)).astype("float32")
    text = draw.normal(size=(32, 4, 3)).astype("float32")
    length = draw.randint(1, 5, size=32).astype("int32")
    y = image[:, :1, 0, 0] - 2.0 * text[:, :1, 0]
    features = {"image": image, "words": text, "length": length}
    return tf.data.Dataset.from_tensor_slices((features, y)).batch(8)


def forever():
    return data().repeat()


RESULT = {}


def run(directory, checkpoint, steps):
    params = {"decay": 0.05, "units": 4, "sizes": [3, 2], "kept": 1.0, "drawn": False}
    estimator = tf.estimator.Estimator(
        model_fn,
        model_dir=directory,
        config=tf.estimator.RunConfig(train_distribute=STRATEGY, tf_random_seed=1),
        params=dict(params, checkpoint=checkpoint),
    )
    estimator.train(forever, max_steps=steps)
    found = dict(estimator.evaluate(data))
    for name in estimator.get_variable_names():
        found[name] = np.sum(np.abs(estimator.get_variable_value(name)))
    for name, value in found.items():
        RESULT[(checkpoint and "again/") + name] = value


run(DIRECTORY, "", STEPS)
run(DIRECTORY + "_again", DIRECTORY, STEPS)
