"""Bare variables whose shapes follow from the input; an optimizer without a name."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


def linear(x, n_out, name, stddev=0.1):
    with tf.variable_scope(name):
        n_in = x.get_shape().as_list()[-1]
        bound = 1.0 / np.sqrt(n_in)
        w = tf.get_variable(
            "w", [n_in, n_out], initializer=tf.random_uniform_initializer(-bound, bound)
        )
        b = tf.get_variable(
            "b", [n_out], initializer=tf.constant_initializer(0.1 * stddev)
        )
        x = tf.matmul(x, w)
        return tf.nn.bias_add(x, b) / float(n_in)


def gated(inputs, ratio):
    """Weights of a size that follows from the input."""
    gate = tf.nn.sigmoid(tf.tile(inputs, [1, ratio]))
    size = inputs.shape.as_list()[1]
    scale = tf.get_variable("scale", [1, size * ratio], initializer=tf.ones_initializer())
    return tf.tile(inputs, [1, ratio]) * gate * scale


def model_fn(features, labels, mode, params):
    net = tf.nn.tanh(linear(features["x"], params["hidden"], "first"))
    net = gated(net, 2)
    logits = linear(net, 2, "second", stddev=0.5)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    step = tf.train.get_global_step()
    warmup = tf.minimum(1.0, tf.cast(step + 1, tf.float32) / 4.0)
    train_op = tf.train.AdamOptimizer(0.05 * warmup).minimize(loss, global_step=step)
    metrics = {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, axis=1))}
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops=metrics
    )


def data(count=40, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 5)).astype(np.float32)
    y = (x[:, 0] > x[:, 1]).astype(np.int32)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).repeat(4).batch(20)


estimator = tf.estimator.Estimator(
    model_fn,
    MODEL_DIR,
    params={"hidden": 4},
    config=tf.estimator.RunConfig(log_step_count_steps=1),
)
estimator.train(data)
RESULT = estimator.evaluate(lambda: data(30, 1))
