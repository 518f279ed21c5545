# Optimizers that are told by their names, which only the call of the program knows.
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.python.estimator.canned import optimizers

X = np.cos(np.arange(60.)).reshape(20, 3).astype(np.float32)
Y = (X.sum(1, keepdims=True) > 0).astype(np.float32)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({'x': X}, Y)).repeat(5).batch(5)


def net_of(features):
    net = tf.layers.dense(features['x'], 4, tf.nn.tanh,
                          kernel_initializer=tf.constant_initializer(.1))
    return tf.layers.dense(net, 1, kernel_initializer=tf.constant_initializer(.2))


def with_head(features, labels, mode, params):
    logits = net_of(features)
    optimizer = optimizers.get_optimizer_instance(params['optimizer'], params['rate'])
    head = tf.contrib.estimator.binary_classification_head(thresholds=[0.5])
    return head.create_estimator_spec(
        features=features, mode=mode, labels=labels, logits=logits,
        train_op_fn=lambda loss: optimizer.minimize(
            loss, global_step=tf.train.get_global_step()))


def with_function(features, labels, mode, params):
    net = net_of(features)
    loss = tf.losses.mean_squared_error(labels, net)
    train_op = tf.contrib.layers.optimize_loss(
        loss, tf.train.get_global_step(), learning_rate=params['rate'],
        optimizer=params.get('optimizer', 'Adam'))
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def with_rate_that_falls(features, labels, mode, params):
    net = net_of(features)
    loss = tf.losses.mean_squared_error(labels, net)
    train_op = tf.contrib.layers.optimize_loss(
        loss, tf.train.get_global_step(), params['rate'], params['optimizer'],
        learning_rate_decay_fn=lambda rate, step: tf.train.exponential_decay(
            rate, step, 3, .5))
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def trained(model_fn, name):
    params = {'optimizer': name, 'rate': 0.05}
    estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp(), params=params)
    estimator.train(input_fn)
    return estimator.evaluate(input_fn)['loss']


NAMES = ('Adagrad', 'Adam', 'Ftrl', 'Momentum', 'RMSProp', 'SGD')
RESULT = {name: trained(with_function, name) for name in NAMES}
RESULT['head'] = trained(with_head, 'RMSProp')
RESULT['falling'] = trained(with_rate_that_falls, 'Ftrl')
