"""Averages of weights that count the updates; evaluations restore them."""
import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode):
    net = tf.layers.dense(features, 3, tf.nn.tanh, kernel_initializer=ramp)
    outputs = tf.layers.dense(net, 1, kernel_initializer=ramp)
    step = tf.train.get_or_create_global_step()
    ema = tf.train.ExponentialMovingAverage(0.99, step)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'out': outputs})
    loss = tf.losses.mean_squared_error(labels, outputs)
    if mode == tf.estimator.ModeKeys.EVAL:
        saver = tf.train.Saver(ema.variables_to_restore())
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, scaffold=tf.train.Scaffold(saver=saver))
    update = tf.train.GradientDescentOptimizer(0.2).minimize(loss, step)
    with tf.control_dependencies([update]):
        train_op = ema.apply(tf.trainable_variables())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


X = np.sin(np.arange(48.)).reshape(12, 4).astype(np.float32)
Y = X.sum(1, keepdims=True)
