"""A normalization that an option asks for, within an argument or by a name."""
import tempfile

import numpy as np
import tensorflow as tf

layers = tf.contrib.layers
START = tf.constant_initializer(0.2)
X = np.sin(np.arange(96.)).reshape(24, 4).astype(np.float32)
Y = X.sum(1, keepdims=True)


def tower(net, sizes, training, normal):
    told = {'is_training': training, 'decay': 0.8, 'scale': True}
    for size in sizes:
        net = layers.fully_connected(
            net, size, weights_initializer=START,
            normalizer_fn=layers.batch_norm if normal else None,
            normalizer_params=told if normal else None)
    return net


def model_fn(features, labels, mode, params):
    training = mode == tf.estimator.ModeKeys.TRAIN
    net = tower(features, [5, 3], training, params['normal'])
    normalizer = None if not params['last'] else layers.batch_norm
    outputs = layers.fully_connected(
        net, 1, activation_fn=None, weights_initializer=START,
        normalizer_fn=normalizer, normalizer_params={'is_training': training})
    loss = tf.losses.mean_squared_error(labels, outputs)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    with tf.control_dependencies(updates):
        train_op = tf.train.GradientDescentOptimizer(0.05).minimize(
            loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).repeat(2).batch(6)


RESULT = {}
for normal in (False, True):
    for last in (False, True):
        estimator = tf.estimator.Estimator(
            model_fn, tempfile.mkdtemp(), params={'normal': normal, 'last': last})
        estimator.train(input_fn)
        found = estimator.evaluate(input_fn)
        RESULT['%s %s' % (normal, last)] = found['loss']
