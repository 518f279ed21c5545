"""Metrics with computed names, and values of variables that are asked for by theirs."""
import tempfile

import numpy as np
import tensorflow as tf

LEVEL = 'ERROR'
PARAMS = tf.contrib.training.HParams(items=5, top_k=3)
X = np.arange(12) % 5
Y = (X * 2) % 5


def ramp(shape, dtype=tf.float32, partition_info=None):
    count = int(np.prod(shape))
    return tf.constant(np.cos(np.arange(count)).reshape([int(n) for n in shape]), dtype)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(4).repeat(3)


def model_fn(features, labels, mode, params):
    hp = params
    with tf.variable_scope('items', initializer=ramp):
        table = tf.get_variable('table', [hp.items, 4])
    vector = tf.nn.embedding_lookup(table, features)
    hidden = tf.layers.dense(
        vector, 6, activation=tf.nn.relu, kernel_initializer=ramp, name='hidden')
    with tf.variable_scope('out', initializer=ramp):
        weights = tf.get_variable('out_w', [hp.items, 6])
    logits = tf.matmul(hidden, weights, transpose_b=True)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'scores': logits})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {'top_%d' % k: tf.metrics.mean(
            tf.cast(tf.nn.in_top_k(logits, labels, k), tf.float32))
            for k in (1, hp.top_k)}
        best = tf.argmax(logits, 1)
        metrics['right_of_{}'.format(hp.items)] = tf.metrics.accuracy(labels, best)
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    optimizer = tf.train.AdagradOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


tf.logging.set_verbosity(getattr(tf.logging, LEVEL))
estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp(), params=PARAMS)
estimator.train(input_fn, steps=4)
first = estimator.latest_checkpoint()
estimator.train(input_fn)
RESULT = estimator.evaluate(input_fn, checkpoint_path=first)
one = next(estimator.predict(input_fn, checkpoint_path=first))
RESULT['scores'] = np.sum(one['scores'])
RESULT['hidden'] = np.sum(estimator.get_variable_value('hidden/kernel'))
RESULT['out'] = np.sum(estimator.get_variable_value('out/out_w'))
