"""Layers begin as in a checkpoint of another model, and all of them are trained."""
import tempfile

import numpy as np
import tensorflow as tf

X = np.linspace(-1., 1., 36).reshape(12, 3).astype(np.float32)
Y = (X.sum(1) > .2).astype(np.int32)


def model_fn(features, labels, mode, params):
    training = mode == tf.estimator.ModeKeys.TRAIN
    start = tf.constant_initializer([[.1, -.2, .3]] * 3)
    with tf.variable_scope('backbone'):
        net = tf.layers.dense(features, 3, tf.tanh, kernel_initializer=start, name='fc')
        net = tf.layers.batch_normalization(
            net, training=training, momentum=.8, name='norm')
    with tf.variable_scope(params['head']):
        logits = tf.layers.dense(net, 3, kernel_initializer=start, name='logits')
    if training and params['start']:
        tf.train.init_from_checkpoint(params['start'], {'backbone/': 'backbone/'})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = tf.train.AdamOptimizer(.05).minimize(
            loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).repeat(2).batch(4)


RESULT = {}
warm = None
path = None
for head in ['first', 'second', 'third']:
    if head == 'third':
        path, warm = None, tf.estimator.WarmStartSettings(path, 'backbone/.*')
    estimator = tf.estimator.Estimator(
        model_fn, tempfile.mkdtemp(), params={'head': head, 'start': path},
        warm_start_from=warm)
    RESULT['at first'] = estimator.evaluate(input_fn)['loss']
    estimator.train(input_fn)
    path = estimator.latest_checkpoint()
    RESULT[head] = estimator.evaluate(input_fn)['loss']
