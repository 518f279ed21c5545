"""Metrics that are computed of others, and helpers whose sums are factors."""

import numpy as np
import tensorflow as tf
from tensorflow.python.ops.metrics_impl import _streaming_confusion_matrix


def f1_score(labels, predictions):
    p, p_op = tf.metrics.precision(labels, predictions)
    r, r_op = tf.metrics.recall(labels, predictions)
    return 2 * p * r / (p + r + 1e-8), tf.group(p_op, r_op)


def share_of_hits(labels, predictions, weights=None):
    matrix, update = _streaming_confusion_matrix(labels, predictions, 2, weights)
    share, _ = shares(matrix)
    update, _ = shares(update)
    return share, update


def shares(matrix):
    hits = tf.linalg.diag_part(matrix)
    return tf.reduce_sum(hits) / tf.reduce_sum(matrix), hits


def losses(labels, output, mode):
    squared = tf.losses.mean_squared_error(labels, output)
    if mode == tf.estimator.ModeKeys.TRAIN:
        tf.summary.scalar("squared", squared)
    return squared + tf.losses.absolute_difference(labels, output)


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 5)).astype(np.float32)
    y = x.sum(axis=1, keepdims=True)
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat(6).batch(20)


def model_fn(features, labels, mode):
    output = tf.layers.dense(features, 1)
    loss = 0.5 * losses(labels, output, mode)
    if mode == tf.estimator.ModeKeys.EVAL:
        high, guess = labels > 0.0, output > 0.0
        mean = tf.metrics.mean(output)
        square = tf.metrics.mean(output * output)
        square_of_mean = mean[0] * mean[0]
        metrics = {
            "f1": f1_score(high, guess),
            "hits": share_of_hits(high, guess),
            "mean": mean,
            "square": square,
            "variance": (square[0] - square_of_mean, tf.group(square[1], mean[1])),
            "accuracy": tf.metrics.accuracy(high, guess),
        }
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
