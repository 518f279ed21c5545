"""An embedding by hand, labels worked on before the model; weighted loss."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


def model_fn(features, labels, mode, params):
    if labels is not None:
        weights = tf.where(tf.equal(labels, 0), tf.ones_like(labels) * 2, labels)
        weights = tf.to_float(weights)
    ids = tf.cast(tf.abs(features["x"] * 10), tf.int32) % params["buckets"]
    table = tf.get_variable(
        "table",
        [params["buckets"], 4],
        initializer=tf.truncated_normal_initializer(stddev=0.3),
    )
    net = tf.reduce_mean(tf.nn.embedding_lookup(table, ids), axis=1)
    logits = tf.layers.dense(net, 3, kernel_initializer=tf.random_normal_initializer())
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"logits": logits})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits, weights=weights)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(
            mode,
            loss=loss,
            eval_metric_ops={
                "accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, 1), weights)
            },
        )
    optimizer = tf.train.AdamOptimizer(0.01, epsilon=1e-4)
    train_op = optimizer.minimize(loss, tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 6)).astype(np.float32)
    y = draw.randint(3, size=count)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).repeat(6).batch(20)


estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=MODEL_DIR,
    config=tf.estimator.RunConfig(log_step_count_steps=1, tf_random_seed=5),
    params={"buckets": 11},
)
estimator.train(data, steps=8)
RESULT = estimator.evaluate(lambda: data(50, seed=1))
