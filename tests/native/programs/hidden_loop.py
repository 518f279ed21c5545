"""Layers in a loop over the sizes that params give; a decayed rate."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


def model_fn(features, labels, mode, params):
    """A network as deep as the parameters say."""
    net = features["x"]
    # One hidden layer for each size.
    for i, units in enumerate(params["hidden_units"]):
        net = tf.layers.dense(net, units, activation=tf.nn.tanh, name="hidden_%d" % i)
        if params["dropout"]:
            net = tf.layers.dropout(
                net, params["dropout"], training=mode == tf.estimator.ModeKeys.TRAIN
            )
    logits = tf.layers.dense(net, params["classes"], activation=None)
    classes = tf.argmax(logits, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"class": classes})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(
            mode,
            loss=loss,
            eval_metric_ops={"accuracy": tf.metrics.accuracy(labels, classes)},
        )
    step = tf.train.get_global_step()
    rate = tf.train.exponential_decay(0.2, step, 3, 0.5, staircase=True)
    tf.summary.scalar("rate", rate)
    optimizer = tf.train.GradientDescentOptimizer(rate)
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=optimizer.minimize(loss, global_step=step)
    )


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 6)).astype(np.float32)
    y = draw.randint(3, size=count)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).repeat(6).batch(20)


estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=MODEL_DIR,
    config=tf.estimator.RunConfig(log_step_count_steps=1, tf_random_seed=5),
    params={"hidden_units": [8, 5], "dropout": 0.0, "classes": 3},
)
estimator.train(data, steps=8)
RESULT = estimator.evaluate(lambda: data(50, seed=1))
