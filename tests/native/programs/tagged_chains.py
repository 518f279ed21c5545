"""Tags of sequences: cells that a helper is given, and a chain over what they give."""

import os

import numpy as np
import tensorflow as tf
from tensorflow.contrib import crf

MODEL_DIR = os.environ["MODEL_DIR"]


def both_ways(forward, backward, x, lengths, scope=None):
    with tf.variable_scope(scope or "both_ways"):
        outputs, _ = tf.nn.bidirectional_dynamic_rnn(
            forward, backward, x, sequence_length=lengths, dtype=tf.float32
        )
        return tf.concat(outputs, 2)


def model_fn(features, labels, mode, params):
    units = params["units"]
    lengths = features["length"]
    with tf.variable_scope("words") as scope:
        net = both_ways(
            tf.nn.rnn_cell.GRUCell(units),
            tf.nn.rnn_cell.GRUCell(units),
            features["x"],
            lengths,
            scope,
        )
    scores = tf.layers.dense(net, 4, name="scores")
    moves = tf.get_variable("moves", [4, 4])
    tags, _ = crf.crf_decode(scores, moves, lengths)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"tags": tags})
    likelihood, _ = crf.crf_log_likelihood(
        scores, labels, lengths, transition_params=moves
    )
    loss = tf.reduce_mean(-likelihood)
    if mode == tf.estimator.ModeKeys.EVAL:
        weights = tf.sequence_mask(lengths, tf.shape(tags)[1])
        metrics = {"accuracy": tf.metrics.accuracy(labels, tags, weights)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    train_op = tf.train.AdamOptimizer(0.02).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 7, 3)).astype(np.float32)
    length = draw.randint(1, 8, size=count).astype(np.int32)
    tags = (x[:, :, 0] > 0).astype(np.int32) + 2 * (x[:, :, 1] > 0)
    features = {"x": x, "length": length}
    return tf.data.Dataset.from_tensor_slices((features, tags)).repeat(6).batch(20)


estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=MODEL_DIR,
    config=tf.estimator.RunConfig(log_step_count_steps=1, tf_random_seed=5),
    params={"units": 4},
)
estimator.train(data, steps=8)
RESULT = estimator.evaluate(lambda: data(50, seed=1))
TAGS = [one["tags"] for one in estimator.predict(lambda: data(8, seed=2))]
