"""Two towers of one function, whose columns share their embeddings across them."""

import numpy as np
import tensorflow as tf
from tensorflow import feature_column as fc


def columns():
    first, second = (fc.categorical_column_with_identity(one, 9) for one in "ab")
    shared = fc.shared_embedding_columns([first, second], 3)
    return [fc.numeric_column("price"), fc.embedding_column(first, 2), *shared]


PARAMS = {"columns": columns(), "hidden": [5]}


def tower(features, params):
    net = fc.input_layer(features, params["columns"])
    for units in params["hidden"]:
        net = tf.layers.dense(net, units, tf.nn.relu)
    return tf.layers.dense(net, 1)


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    features = {
        "price": draw.normal(size=(count, 1)).astype(np.float32),
        "a": draw.randint(0, 9, (count, 2)),
        "b": draw.randint(0, 9, (count, 3)),
    }
    y = (features["a"][:, :1] > 4).astype(np.float32)
    dataset = tf.data.Dataset.from_tensor_slices((features, y))
    return dataset.repeat(6).batch(20)


def model_fn(features, labels, mode, params):
    with tf.variable_scope("clicks"):
        clicks = tower(features, params)
    with tf.variable_scope("orders"):
        orders = tower(features, params)
    output = tf.sigmoid(clicks) * tf.sigmoid(orders)
    loss = tf.losses.mean_squared_error(labels, output)
    loss += tf.losses.sigmoid_cross_entropy(labels, clicks)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"mae": tf.metrics.mean_absolute_error(labels, output)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    train_op = tf.train.AdamOptimizer(0.02).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
