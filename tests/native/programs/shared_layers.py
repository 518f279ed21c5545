"""Variables under one name are one: towers, rounds of a cell, a net for each mode."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


def tower(x, units, reuse=None):
    with tf.variable_scope("tower", reuse=reuse):
        net = tf.layers.dense(x, units, activation=tf.nn.tanh)
        net = tf.layers.dense(net, units + 1, activation=tf.nn.tanh)
        return tf.layers.dense(net, 3, name="last")


def embed(ids):
    with tf.variable_scope("embedding", reuse=tf.AUTO_REUSE):
        table = tf.get_variable("table", [12, 4])
    return tf.reduce_mean(tf.nn.embedding_lookup(table, ids), axis=1)


def rounds(state, count):
    for t in range(count):
        with tf.variable_scope("cell", reuse=t > 0):
            state = tf.layers.dense(state, 5, tf.nn.tanh)
            state = tf.layers.dense(state, 7, tf.nn.tanh, name="back")
    return state


def net(x, units, is_training):
    x = tf.layers.dense(x, units, use_bias=False)
    x = tf.layers.batch_normalization(x, training=is_training, momentum=0.7)
    return tf.layers.dense(x, 2)


def model_fn(features, labels, mode, params):
    left = tower(features["left"], params["units"])
    right = tower(features["right"], params["units"], reuse=True)
    first, second = embed(features["first"]), embed(features["second"])
    with tf.variable_scope("head"):
        w = tf.get_variable("w", [4, 4])
    with tf.variable_scope("other"):
        v = tf.get_variable("w", [4, 7])
    with tf.variable_scope("head", reuse=True):
        again = tf.get_variable("w", [4, 4])
    words = tf.matmul(tf.matmul(first, w) + tf.matmul(second, again), v)
    state = rounds(words, 3)
    joined = tf.concat([left * right, state], axis=1)
    if mode == tf.estimator.ModeKeys.TRAIN:
        logits = net(joined, 6, is_training=True)
    else:
        logits = net(joined, 6, is_training=False)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        classes = tf.argmax(logits, axis=1)
        metrics = {"accuracy": tf.metrics.accuracy(labels, classes)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    step = tf.train.get_global_step()
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = tf.train.AdamOptimizer(0.01).minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data(count=40, seed=0):
    draw = np.random.RandomState(seed)
    left, right = draw.normal(size=(2, count, 5)).astype(np.float32)
    first, second = draw.randint(12, size=(2, count, 3)).astype(np.int32)
    labels = (left[:, 0] * right[:, 0] > 0).astype(np.int32)
    x = {"left": left, "right": right, "first": first, "second": second}
    return tf.data.Dataset.from_tensor_slices((x, labels)).repeat(4).batch(20)


estimator = tf.estimator.Estimator(
    model_fn,
    MODEL_DIR,
    params={"units": 4},
    config=tf.estimator.RunConfig(log_step_count_steps=1),
)
estimator.train(data)
RESULT = estimator.evaluate(lambda: data(30, 1))
