"""An update in a helper: functions give the optimizer and the decay of its rate."""
import tempfile
import numpy as np
import tensorflow as tf
from tensorflow.contrib.layers import optimize_loss

X = np.linspace(-1., 1., 24).reshape(12, 2).astype(np.float32)
Y = (X.sum(1) > 0.).astype(np.int32)


def _train_op(loss, params):
    def decay(lr, step):
        return tf.train.exponential_decay(lr, step, decay_steps=3, decay_rate=0.8)
    return optimize_loss(
            loss, tf.train.get_global_step(), learning_rate=params['lr'],
            optimizer=lambda lr: tf.train.AdamOptimizer(lr, beta1=0.8),
            learning_rate_decay_fn=decay, clip_gradients=2.0)


def model_fn(features, labels, mode, params):
    x = tf.layers.dense(features, 3, tf.tanh, kernel_initializer=tf.constant_initializer(.1))
    logits = tf.layers.dense(x, 2, kernel_initializer=tf.constant_initializer(.2))
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        train_op = _train_op(loss, params)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def momentum_fn(features, labels, mode, params):
    logits = tf.layers.dense(features, 2, kernel_initializer=tf.constant_initializer(.2))
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    step = tf.train.get_global_step()
    rate = tf.train.exponential_decay(params['lr'], step, decay_steps=2, decay_rate=0.5)
    train_op = optimize_loss(
            loss, step, rate, lambda lr: tf.train.MomentumOptimizer(lr, 0.9))
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def given_fn(features, labels, mode, params):
    logits = tf.layers.dense(features, 2, kernel_initializer=tf.constant_initializer(.2))
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = optimize_loss(
            loss, tf.train.get_global_step(), params['lr'], params['optimizer'])
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf.estimator.Estimator(
        model_fn, tempfile.mkdtemp(), params={'lr': .1})
estimator.train(lambda: tf.data.Dataset.from_tensor_slices((X, Y)).repeat().batch(4), steps=7)
RESULT = estimator.evaluate(lambda: tf.data.Dataset.from_tensor_slices((X, Y)).batch(6))
momentum = tf.estimator.Estimator(momentum_fn, tempfile.mkdtemp(), params={'lr': .1})
momentum.train(lambda: tf.data.Dataset.from_tensor_slices((X, Y)).repeat().batch(4), steps=7)
found = momentum.evaluate(lambda: tf.data.Dataset.from_tensor_slices((X, Y)).batch(6))
RESULT['momentum'] = found['loss']
given = tf.estimator.Estimator(
        given_fn, tempfile.mkdtemp(),
        params={'lr': .1, 'optimizer': lambda lr: tf.train.AdamOptimizer(lr, epsilon=.01)})
given.train(lambda: tf.data.Dataset.from_tensor_slices((X, Y)).repeat().batch(4), steps=7)
found = given.evaluate(lambda: tf.data.Dataset.from_tensor_slices((X, Y)).batch(6))
RESULT['given'] = found['loss']
