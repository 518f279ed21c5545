"""One of two networks by a name, in slim's words, and averages that a flag chooses."""
import tempfile

import numpy as np
import tensorflow as tf
import tensorflow.contrib.slim as slim

BATCH_NORM = True


def create_model(x, settings, kind, is_training):
    if kind == 'flat':
        return flat_model(x, settings, is_training)
    elif kind == 'separable':
        return separable_model(x, settings, is_training)
    else:
        raise ValueError('no model is called %s' % kind)


def norm_layer(x, train_phase, scope):
    trained = tf.contrib.layers.batch_norm(
        x, decay=.8, scale=True, updates_collections=None, is_training=True,
        reuse=None, scope=scope)
    inferred = tf.contrib.layers.batch_norm(
        x, decay=.8, scale=True, updates_collections=None, is_training=False,
        reuse=True, scope=scope)
    return tf.cond(tf.cast(train_phase, tf.bool), lambda: trained, lambda: inferred)


def flat_model(x, settings, is_training):
    net = slim.fully_connected(
        slim.flatten(x), 4, weights_initializer=ramp, scope='first')
    if BATCH_NORM:
        net = norm_layer(net, train_phase=is_training, scope='norm')
    return slim.fully_connected(
        net, settings['classes'], activation_fn=None, weights_initializer=ramp)


def separable_model(x, settings, is_training):
    def both(inputs, filters, name):
        net = slim.separable_convolution2d(
            inputs, num_outputs=None, stride=1, depth_multiplier=1, kernel_size=[3, 3],
            scope=name + '/depth')
        net = slim.batch_norm(net, scope=name + '/depth/norm')
        return slim.convolution2d(net, filters, [1, 1], scope=name + '/point')

    with tf.variable_scope('separable') as sc:
        ends = sc.name + '_ends'
        with slim.arg_scope([slim.convolution2d, slim.separable_convolution2d],
                            activation_fn=None, weights_initializer=ramp,
                            biases_initializer=slim.init_ops.zeros_initializer(),
                            outputs_collections=[ends]):
            with slim.arg_scope([slim.batch_norm], is_training=is_training, decay=.9,
                                updates_collections=None, activation_fn=tf.nn.relu):
                net = both(x, 3, 'one')
                net = both(net, 2, 'two')
                net = slim.avg_pool2d(net, net.get_shape().as_list()[1:3])
    return slim.fully_connected(
        slim.flatten(net), settings['classes'], activation_fn=None,
        weights_initializer=ramp)


def model_fn(features, labels, mode, params):
    if BATCH_NORM:
        if mode == tf.estimator.ModeKeys.TRAIN:
            train_phase = True
        else:
            train_phase = False
    else:
        train_phase = False
    logits = create_model(features, params, params['kind'], train_phase)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'logits': logits})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.GradientDescentOptimizer(.02).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


X = np.sin(np.arange(12 * 16, dtype=np.float32)).reshape(12, 4, 4, 1)
Y = np.arange(12, dtype=np.int32) % 3


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(6)


RESULT = {}
for kind in ['flat', 'separable']:
    estimator = tf.estimator.Estimator(
        model_fn, tempfile.mkdtemp(), params={'kind': kind, 'classes': 3})
    for _ in range(2):
        estimator.train(input_fn)
    RESULT[kind] = estimator.evaluate(input_fn)['loss']
    RESULT[kind + ' sum'] = sum(
        one['logits'].sum() for one in estimator.predict(input_fn))
