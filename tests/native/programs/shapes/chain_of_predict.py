"""PREDICT gets by its name what a helper makes for the loss; weights in a loop."""
import numpy as np
import tensorflow as tf


def pair_loss(logits, labels, tags):
    moves = tf.get_variable('moves', [tags, tags], initializer=ramp)
    pairs = tf.gather(tf.reshape(moves, [-1]), labels[:, :-1] * tags + labels[:, 1:])
    score = tf.reduce_sum(tf.one_hot(labels, tags) * logits, 2)
    norm = tf.reduce_logsumexp(logits, 2) + tf.reduce_logsumexp(moves)
    return tf.reduce_sum(norm - score, 1) - tf.reduce_sum(pairs, 1), moves


def model_fn(features, labels, mode):
    net = features
    for i, (size, factor) in enumerate(zip([3, 3], [1., .5])):
        with tf.variable_scope('layer%d' % i):
            w = tf.get_variable('w', [3, size], initializer=ramp)
            net = tf.layers.dense(tf.tensordot(net, w, 1), 3, kernel_initializer=ramp)
            net = tf.tanh(net) * factor
    logits = tf.layers.dense(net, 2, kernel_initializer=ramp)
    if mode == tf.estimator.ModeKeys.PREDICT:
        with tf.variable_scope('chain'):
            moves = tf.get_variable('moves', [2, 2])
        tags, _ = tf.contrib.crf.crf_decode(logits, moves, tf.fill([4], 4))
        return tf.estimator.EstimatorSpec(mode, predictions={'tags': tags})
    with tf.variable_scope('chain'):
        each, moves = pair_loss(logits, labels, 2)
    loss = tf.reduce_mean(each)
    train_op = tf.train.GradientDescentOptimizer(.05).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


X = np.sin(np.arange(144, dtype=np.float32)).reshape(12, 4, 3)
Y = (X.sum(2) > 0).astype(np.int32)
