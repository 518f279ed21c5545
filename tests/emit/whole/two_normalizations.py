"""One normalization that is called twice: as it trains, and with moving averages."""

import os
import tempfile

import numpy as np
import tensorflow as tf


def network(x, training):
    with tf.variable_scope("network", reuse=tf.AUTO_REUSE):
        x = tf.layers.dense(x, 8, name="hidden")
        x = tf.layers.batch_normalization(x, training=training, momentum=0.6, name="n")
        return tf.layers.dense(x, 3, name="logits")


def model_fn(features, labels, mode):
    trained = network(features["x"], True)
    tested = network(features["x"], False)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {"logits": tested})
    logits = trained if mode == tf.estimator.ModeKeys.TRAIN else tested
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    metrics = {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, 1))}
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops=metrics
    )


def data():
    rng = np.random.RandomState(0)
    x = rng.normal(size=(90, 6)).astype("float32") * 3 + 1
    y = (x[:, 0] > x[:, 1]).astype("int64") + (x[:, 2] > 1)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y))


def train_data():
    return data().repeat().batch(10)


def test_data():
    return data().batch(16)


MODEL_DIR = os.environ.get("MODEL_DIR") or tempfile.mkdtemp()
config = tf.estimator.RunConfig(model_dir=MODEL_DIR, tf_random_seed=3)
estimator = tf.estimator.Estimator(model_fn, config=config)
estimator.train(train_data, steps=12)
RESULT = estimator.evaluate(test_data)
PREDICTED = [p["logits"] for p in estimator.predict(test_data)]
