"""A function returns the network, which reads what it was told; another the model."""
import tempfile

import numpy as np
import tensorflow as tf


def block(x, units, training):
    x = tf.layers.dense(x, units, use_bias=False, kernel_initializer=ramp)
    return tf.nn.relu(tf.layers.batch_normalization(x, momentum=.5, training=training))


def residual_generator(depth, classes, widths=None):
    """A network of so many blocks."""
    if depth % 2:
        raise ValueError('an even depth', depth)
    if widths is None:
        widths = [3] * (depth // 2)

    def model(inputs, is_training):
        net = inputs
        for width in widths:
            net = block(net, width, is_training)
        net = tf.identity(net, 'last')
        return tf.layers.dense(
            net, classes, kernel_initializer=ramp,
            kernel_regularizer=tf.contrib.layers.l2_regularizer(.1) if depth else None)

    return model


def rate_of(params):
    step = tf.train.get_or_create_global_step()
    decayed = tf.train.exponential_decay(params['rate'], step, 2, .5)
    begins = params['rate'] * tf.cast(step + 1, tf.float32) / 3.
    return tf.cond(step < 3, lambda: begins, lambda: decayed)


def model_fn_of(network):
    def model_fn(features, labels, mode, params):
        logits = network(features, mode == tf.estimator.ModeKeys.TRAIN)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions=tf.nn.softmax(logits))
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        loss += tf.losses.get_regularization_loss()
        train_op = None
        if mode == tf.estimator.ModeKeys.TRAIN:
            rate = rate_of(params)
            tf.summary.scalar('rate', rate)
            optimizer = tf.train.MomentumOptimizer(rate, .9)
            with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
                train_op = optimizer.minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


X = np.sin(np.arange(36, dtype=np.float32)).reshape(12, 3)
Y = (X.sum(1) > 0.).astype(np.int32)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)


estimator = tf.estimator.Estimator(
    model_fn_of(residual_generator(4, classes=2)), tempfile.mkdtemp(),
    params={'rate': .1})
for _ in range(2):
    estimator.train(input_fn, steps=3)
RESULT = dict(estimator.evaluate(input_fn))
