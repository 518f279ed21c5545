"""Two models in a dict, trained one after the other."""

import os

import numpy as np
import tensorflow as tf

BASE = os.environ["MODEL_DIR"]


def shallow_model_fn(features, labels, mode):
    logits = tf.layers.dense(features["x"], 2)
    return make_spec(logits, labels, mode)


def deep_model_fn(features, labels, mode):
    net = tf.layers.dense(features["x"], 16, activation=tf.nn.relu)
    logits = tf.layers.dense(net, 2)
    return make_spec(logits, labels, mode)


def make_spec(logits, labels, mode):
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    accuracy = tf.metrics.accuracy(labels, tf.argmax(logits, 1))
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops={"accuracy": accuracy}
    )


def compare(rounds):
    rng = np.random.RandomState(2)
    x = rng.rand(64, 8).astype(np.float32)
    y = (x.max(axis=1) > 0.85).astype(np.int32)
    train_input_fn = tf.estimator.inputs.numpy_input_fn(
        {"x": x}, y, batch_size=16, num_epochs=None, shuffle=False
    )
    test_input_fn = tf.estimator.inputs.numpy_input_fn(
        {"x": x}, y, batch_size=16, shuffle=False
    )
    config = tf.estimator.RunConfig(log_step_count_steps=1)
    estimators = {
        "shallow": tf.estimator.Estimator(
            shallow_model_fn, model_dir=os.path.join(BASE, "shallow"), config=config
        ),
        "deep": tf.estimator.Estimator(
            deep_model_fn, model_dir=os.path.join(BASE, "deep"), config=config
        ),
    }
    figures = {}
    for name, estimator in sorted(estimators.items()):
        for _ in range(rounds):
            estimator.train(train_input_fn, steps=2)
        for key, value in estimator.evaluate(test_input_fn, steps=None).items():
            figures["%s_%s" % (name, key)] = value
    return figures


RESULT = compare(2)
