"""Weights whose decay a helper adds to the collection of losses, as a tutorial had it."""
import numpy as np
import tensorflow as tf


def _variable_with_weight_decay(name, shape, wd):
    var = tf.get_variable(name, shape, initializer=ramp)
    if wd is not None:
        weight_decay = tf.multiply(tf.nn.l2_loss(var), wd, name='weight_loss')
        tf.add_to_collection('losses', weight_decay)
    return var


def inference(images):
    with tf.variable_scope('conv') as scope:
        kernel = _variable_with_weight_decay('weights', [2, 2, 2, 3], None)
        conv = tf.nn.conv2d(images, kernel, [1, 1, 1, 1], padding='SAME')
        biases = tf.get_variable('biases', [3], initializer=tf.constant_initializer(0.))
        conv = tf.nn.elu(tf.nn.bias_add(conv, biases), name=scope.name)
    with tf.variable_scope('softmax_linear') as scope:
        flat = tf.reshape(conv, [-1, 36])
        weights = _variable_with_weight_decay('weights', shape=[36, 3], wd=.04)
        biases = tf.get_variable('biases', [3], initializer=tf.zeros_initializer())
        return tf.add(tf.matmul(flat, weights), biases, name=scope.name)


def total_loss(logits, labels):
    labels = tf.cast(labels, tf.int64)
    cross_entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=logits, name='cross_entropy_per_example')
    cross_entropy_mean = tf.reduce_mean(cross_entropy, name='cross_entropy')
    tf.add_to_collection('losses', cross_entropy_mean)
    return tf.add_n(tf.get_collection('losses'), name='total_loss')


def model_fn(features, labels, mode):
    loss = total_loss(inference(features), labels)
    train_op = tf.train.GradientDescentOptimizer(.01).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


X = np.sin(np.arange(288.)).reshape(12, 4, 3, 2).astype(np.float32)
Y = np.arange(12) % 3
