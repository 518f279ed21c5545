"""A network of bare variables, with helpers, a collection and its own train op."""

import os
import tempfile

import numpy as np
import tensorflow as tf


def weight(shape, name):
    initial = tf.truncated_normal(shape, stddev=0.3, seed=4)
    variable = tf.Variable(initial, name=name)
    tf.add_to_collection("decayed", tf.nn.l2_loss(variable))
    return variable


def network(x, sizes):
    for number, (rows, columns) in enumerate(zip(sizes, sizes[1:])):
        with tf.name_scope("block_%d" % number):
            w = weight([rows, columns], "w")
            b = tf.Variable(tf.constant(0.1, shape=[columns]), name="b")
            x = tf.matmul(x, w) + b
            if number < len(sizes) - 2:
                x = tf.nn.relu(x)
    return x


def train_op_of(loss, rate):
    step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(rate, step, 5, 0.9, staircase=True)
    optimizer = tf.train.AdamOptimizer(rate)
    pairs = optimizer.compute_gradients(loss)
    pairs = [(tf.clip_by_norm(g, 1.0), v) for g, v in pairs if g is not None]
    return optimizer.apply_gradients(pairs, global_step=step)


def model_fn(features, labels, mode, params):
    logits = network(features["x"], params["sizes"])
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {"logits": logits})
    decay = 1e-3 * tf.add_n(tf.get_collection("decayed"))
    loss = decay + tf.losses.sparse_softmax_cross_entropy(labels, logits)
    metrics = {
        "accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, 1)),
        "spread": tf.metrics.mean(tf.reduce_max(logits, 1)),
    }
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        train_op = train_op_of(loss, params["rate"])
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops=metrics
    )


def data():
    rng = np.random.RandomState(0)
    x = rng.normal(size=(90, 6)).astype("float32")
    y = (x[:, 0] > x[:, 1]).astype("int64") + (x[:, 2] > 1)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y))


def train_data():
    return data().repeat().batch(10)


def test_data():
    return data().batch(16)


MODEL_DIR = os.environ.get("MODEL_DIR") or tempfile.mkdtemp()
config = tf.estimator.RunConfig(model_dir=MODEL_DIR, tf_random_seed=3)
estimator = tf.estimator.Estimator(
    model_fn, config=config, params={"sizes": [6, 8, 3], "rate": 0.02}
)
estimator.train(train_data, steps=12)
RESULT = estimator.evaluate(test_data)
PREDICTED = [p["logits"] for p in estimator.predict(test_data)]
