"""Weights in dicts, averaged behind each update; losses by their collection's key."""
import numpy as np
import tensorflow as tf


def weights_of(units):
    weights = dict()
    weights['in'] = tf.get_variable('w_in', [4, units], initializer=ramp)
    weights['out'] = tf.get_variable('w_out', [units, 1], initializer=ramp)
    return weights


def model_fn(features, labels, mode):
    weights = weights_of(3)
    biases = {
        'in': tf.get_variable('b_in', [3], initializer=ramp),
        'out': tf.get_variable('b_out', [1], initializer=ramp),
    }
    net = tf.nn.tanh(tf.matmul(features, weights['in']) + biases['in'])
    outputs = tf.matmul(net, weights['out']) + biases['out']
    tf.add_to_collection('losses', tf.reduce_mean(tf.square(outputs - labels)))
    tf.losses.absolute_difference(labels, outputs, weights=0.1)
    loss = tf.add_n(tf.get_collection('losses'), name='total')
    update = tf.train.GradientDescentOptimizer(0.05).minimize(
        loss, tf.train.get_global_step())
    averages = tf.train.ExponentialMovingAverage(0.9)
    with tf.control_dependencies([update]):
        train_op = averages.apply(tf.trainable_variables())
    tf.summary.merge_all()
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


X = np.sin(np.arange(48.)).reshape(12, 4).astype(np.float32)
Y = X.sum(1, keepdims=True)
