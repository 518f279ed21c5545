"""A model_fn that leaves its layers and its loss to one function."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


def create_initializer(initializer_range=0.02):
    return tf.truncated_normal_initializer(stddev=initializer_range)


def bias_variable(shape, name="output_bias", start=0.1):
    """One of the kind."""
    return tf.get_variable(name, shape, initializer=tf.constant_initializer(start))


def create_model(is_training, ids, labels, num_labels, size):
    """A table, a dense layer, and what follows from the labels."""
    with tf.variable_scope("embeddings"):
        table = tf.get_variable(
            "words", [30, size], initializer=create_initializer(0.3)
        )
        pooled = tf.reduce_mean(tf.nn.embedding_lookup(table, ids), axis=1)
    pooled = tf.layers.dense(
        pooled, size, tf.tanh, kernel_initializer=create_initializer()
    )
    weights = tf.get_variable(
        "output_weights", [num_labels, size], initializer=create_initializer(0.2)
    )
    bias = bias_variable([num_labels])
    with tf.variable_scope("loss"):
        if is_training:
            # Only in training.
            pooled = 0.9 * pooled
        logits = tf.nn.bias_add(tf.matmul(pooled, weights, transpose_b=True), bias)
        probabilities = tf.nn.softmax(logits, axis=-1)
        log_probs = tf.nn.log_softmax(logits, axis=-1)
        one_hot = tf.one_hot(labels, depth=num_labels, dtype=tf.float32)
        per_example_loss = -tf.reduce_sum(one_hot * log_probs, axis=-1)
        loss = tf.losses.compute_weighted_loss(per_example_loss)
        return (loss, per_example_loss, logits, probabilities)


def model_fn(features, labels, mode, params):
    is_training = mode == tf.estimator.ModeKeys.TRAIN
    (total_loss, per_example_loss, logits, probabilities) = create_model(
        is_training, features["ids"], labels, params["classes"], 6
    )
    if mode == tf.estimator.ModeKeys.TRAIN:
        train_op = tf.train.AdamOptimizer(0.05).minimize(
            total_loss, tf.train.get_global_step()
        )
        return tf.estimator.EstimatorSpec(mode, loss=total_loss, train_op=train_op)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {
            "accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, axis=-1)),
            "mean": tf.metrics.mean(per_example_loss),
        }
        return tf.estimator.EstimatorSpec(
            mode, loss=total_loss, eval_metric_ops=metrics
        )
    return tf.estimator.EstimatorSpec(mode, predictions={"p": probabilities})


def data(count=40, seed=0):
    draw = np.random.RandomState(seed)
    ids = draw.randint(30, size=(count, 4)).astype(np.int32)
    labels = (ids[:, 0] > 14).astype(np.int32)
    return tf.data.Dataset.from_tensor_slices(({"ids": ids}, labels)).repeat(4).batch(20)


estimator = tf.estimator.Estimator(
    model_fn,
    MODEL_DIR,
    params={"classes": 2},
    config=tf.estimator.RunConfig(log_step_count_steps=1),
)
estimator.train(data)
RESULT = estimator.evaluate(lambda: data(30, 1))
