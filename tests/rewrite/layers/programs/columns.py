"""Columns that share an embedding, a linear part, and variables made by hand."""

import shutil

import numpy as np
import tensorflow as tf


def start(shape, dtype=None, partition_info=None):
    """Values that are the same everywhere."""
    count = 1
    for size in shape:
        count *= int(size)
    return tf.reshape(tf.sin(tf.range(1.0, count + 1.0)) * 0.5, shape)


def weight(shape, name):
    """A variable for whoever wants one."""
    return tf.Variable(start(shape), name=name)


def bias(size):
    return tf.get_variable("bias", [size], initializer=start)


def model_fn(features, labels, mode, params):
    numeric = tf.feature_column.numeric_column("x", shape=[4])
    kinds = [
        tf.feature_column.categorical_column_with_identity(name, 5)
        for name in ("bought", "seen")
    ]
    shared = tf.feature_column.shared_embedding_columns(kinds, 2, initializer=start)
    net = tf.feature_column.input_layer(features, [numeric, *shared])
    linear = tf.feature_column.linear_model(features, kinds)
    with tf.variable_scope("hand"):
        hidden = tf.nn.relu(tf.matmul(net, weight([8, 3], "w")) + bias(3))
        parts = [
            tf.layers.dense(net, size, name="part_%d" % size, kernel_initializer=start)
            for size in params["sizes"]
        ]
        joined = [hidden, *parts]
    out = tf.layers.dense(tf.concat(joined, 1), 1, kernel_initializer=start) + linear
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"out": out})
    loss = tf.losses.mean_squared_error(labels, out)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    optimizer = tf.train.AdagradOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    draw = np.random.RandomState(3)
    x = draw.normal(size=(32, 4)).astype("float32")
    kinds = draw.randint(5, size=(32, 2))
    y = x[:, :1] - 2.0 * x[:, 1:2]
    features = {"x": x, "bought": kinds[:, :1], "seen": kinds[:, 1:]}
    return tf.data.Dataset.from_tensor_slices((features, y)).batch(8)


def forever():
    return data().repeat()


estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=DIRECTORY,
    config=tf.estimator.RunConfig(train_distribute=STRATEGY, tf_random_seed=1),
    params={"sizes": [2, 1]},
)
estimator.train(forever, max_steps=STEPS)
RESULT = dict(estimator.evaluate(data))
for name in estimator.get_variable_names():
    RESULT[name] = np.sum(np.abs(estimator.get_variable_value(name)))
