"""Unnamed layers behind a branch, columns in the model_fn, a loss of all variables."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


def dense(x, units, activation=tf.nn.tanh):
    return tf.layers.dense(x, units, activation=activation)


def block(x, units):
    shortcut = x
    if x.shape[-1] != units:
        shortcut = dense(x, units, activation=None)
    y = dense(x, units)
    y = dense(y, units, activation=None)
    return tf.nn.tanh(shortcut + y)


def get_loss(labels, logits, rate):
    xent = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    kernels = [v for v in tf.trainable_variables() if "bias" not in v.name]
    return xent + rate * tf.add_n([tf.nn.l2_loss(v) for v in kernels])


def model_fn(features, labels, mode, params):
    item = tf.feature_column.categorical_column_with_identity("item", 7)
    columns = [
        tf.feature_column.numeric_column("price"),
        tf.feature_column.embedding_column(item, 3),
    ]
    net = tf.feature_column.input_layer(features, columns)
    for units in params["units"]:
        net = block(net, units)
    logits = tf.layers.dense(net, 2)
    loss = get_loss(labels, logits, params["l2"])
    train_op = tf.train.AdamOptimizer(0.05).minimize(loss, tf.train.get_global_step())
    metrics = {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, axis=1))}
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops=metrics
    )


def data(count=40, seed=0):
    draw = np.random.RandomState(seed)
    item = draw.randint(7, size=count).astype(np.int32)
    price = draw.uniform(size=count).astype(np.float32)
    x = {"item": item, "price": price}
    y = (item % 2).astype(np.int32)
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat(4).batch(20)


estimator = tf.estimator.Estimator(
    model_fn,
    MODEL_DIR,
    params={"units": [4, 5], "l2": 0.01},
    config=tf.estimator.RunConfig(log_step_count_steps=1),
)
estimator.train(data)
RESULT = estimator.evaluate(lambda: data(30, 1))
