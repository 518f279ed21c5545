"""What slim's arg_scopes say: to own functions, by functions that make them, as a dict."""
import tempfile

import numpy as np
import tensorflow as tf

slim = tf.contrib.slim


def slow_scope(is_training, weight_decay=1e-3):
    params = {'is_training': is_training, 'decay': .8}
    with slim.arg_scope([slim.conv2d],
                        weights_regularizer=slim.l2_regularizer(weight_decay),
                        normalizer_fn=slim.batch_norm, normalizer_params=params):
        with slim.arg_scope([slim.conv2d, slim.fully_connected],
                            weights_initializer=ramp) as scope:
            return scope


@slim.add_arg_scope
def block(images, filters, stride=1, activation_fn=tf.nn.relu, scope=None):
    with tf.variable_scope(scope, 'block'):
        net = slim.conv2d(images, filters, [3, 3], stride=stride, scope='first',
                          activation_fn=activation_fn)
        return slim.conv2d(net, filters, [3, 3], activation_fn=None, scope='second')


def deep(images):
    with slim.arg_scope([block], activation_fn=tf.nn.elu):
        net = block(images, 2, stride=2, scope='one')
        net = block(net, 3, scope='two')
    net = tf.reduce_mean(net, [1, 2])
    return slim.fully_connected(net, 1, activation_fn=None, scope='out')


def shallow(images, is_training):
    def norm(net):
        net = tf.layers.batch_normalization(
            net, momentum=.5, training=is_training, name='norm')
        return net

    options = {'weights_initializer': ramp, 'normalizer_fn': norm, 'padding': 'VALID'}
    with slim.arg_scope([slim.conv2d], **options):
        net = slim.conv2d(images, 2, [2, 2], scope='one')
        net = slim.conv2d(net, 2, [2, 2], activation_fn=tf.nn.elu, scope='two')
    net = slim.flatten(net)
    return slim.fully_connected(net, 1, activation_fn=None, weights_initializer=ramp)


def spec(outputs, labels, mode):
    mse = tf.losses.mean_squared_error(labels, outputs)
    loss = tf.losses.get_total_loss()
    optimizer = tf.train.GradientDescentOptimizer(.01)
    train_op = slim.learning.create_train_op(loss, optimizer)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def deep_fn(features, labels, mode):
    is_training = mode == tf.estimator.ModeKeys.TRAIN
    with slim.arg_scope(slow_scope(is_training, weight_decay=1e-2)):
        outputs = deep(features)
    return spec(outputs, labels, mode)


def shallow_fn(features, labels, mode):
    outputs = shallow(features, mode == tf.estimator.ModeKeys.TRAIN)
    return spec(outputs, labels, mode)


X = np.sin(np.arange(288.)).reshape(12, 4, 3, 2).astype(np.float32)
Y = X.sum((1, 2, 3))[:, None]


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(4).repeat(3)


RESULT = {}
for name, model_fn in (('deep', deep_fn), ('shallow', shallow_fn)):
    estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp())
    estimator.train(input_fn)
    RESULT[name] = estimator.evaluate(input_fn, steps=3)['loss']
