"""Models, and optimizers, that dicts tell by names; the step is counted behind."""
import tempfile

import numpy as np
import tensorflow as tf

X = np.cos(np.arange(60.)).reshape(20, 3).astype(np.float32)
Y = np.arange(20) % 4


def fill(value):
    return tf.constant_initializer(value)


def flat(features, params):
    return tf.layers.dense(features['x'], 4, tf.nn.tanh, kernel_initializer=fill(.1))


def seen(features, params):
    net = tf.layers.conv1d(
        features['x'][:, :, None], params['filters'], 2, kernel_initializer=fill(.2))
    return tf.reduce_max(net, axis=1)


NETWORKS = {
    'flat': flat,
    'seen': seen,
}


def tower(ids, params, name):
    with tf.variable_scope(name):
        table = tf.get_variable('table', [4, 2], initializer=fill(.3))
        bias = tf.get_variable('bias', [4], initializer=tf.zeros_initializer())
        return tf.nn.embedding_lookup(table, ids), tf.gather(bias, ids)


def chosen(features, labels, mode, params):
    network = NETWORKS[params.get('network', 'flat')]
    net = network(features, params)
    loss = tf.losses.mean_squared_error(
        tf.cast(labels, tf.float32), tf.reduce_sum(net, axis=1))
    optimizer = {
        'adam': tf.train.AdamOptimizer,
        'sgd': tf.train.GradientDescentOptimizer,
    }[params['optimizer']](learning_rate=0.05)
    trained = optimizer.minimize(loss)
    with tf.control_dependencies([trained]):
        train_op = tf.assign_add(tf.train.get_global_step(), 1).op
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def towers(features, labels, mode, params):
    left, left_bias = tower(features['id'], params, 'left')
    right, right_bias = tower((features['id'] + 1) % 4, params, 'right')
    score = tf.reduce_sum(left * right, axis=1)
    rating = score + left_bias + right_bias
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {'rating': rating, 'vector': left})
    loss = tf.losses.mean_squared_error(tf.cast(labels, tf.float32), rating)
    optimizer_class = tf.train.AdagradOptimizer
    train_op = optimizer_class(.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({'x': X, 'id': Y}, Y)).repeat(4).batch(5)


def trained(model_fn, **params):
    params['filters'] = 2
    estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp(), params=params)
    estimator.train(input_fn)
    return estimator.evaluate(input_fn)['loss']


RESULT = {
    '%s %s' % (network, name): trained(chosen, network=network, optimizer=name)
    for network in sorted(NETWORKS) for name in ('adam', 'sgd')
}
RESULT['towers'] = trained(towers)
