"""Labels in a dict, and metrics in one that loops and updates fill."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]
TARGETS = ("low", "high")


def model_fn(features, labels, mode):
    net = tf.layers.dense(features["x"], 5, activation=tf.nn.tanh)
    outputs = {}
    for name in TARGETS:
        outputs[name] = tf.layers.dense(net, 1)[:, 0]
    losses = []
    for name in TARGETS:
        losses.append(tf.losses.mean_squared_error(labels[name], outputs[name]))
    loss = tf.add_n(losses)
    metrics = {"high": tf.metrics.mean(outputs["high"])}
    for name in TARGETS:
        difference = labels[name] - outputs[name]
        metrics["bias/" + name] = tf.metrics.mean(difference)
        metrics["mae/" + name] = tf.metrics.mean_absolute_error(
            labels[name], outputs[name]
        )
    metrics.update(
        {
            "rmse/" + n: tf.metrics.root_mean_squared_error(labels[n], outputs[n])
            for n in TARGETS
        }
    )
    optimizer = tf.train.AdamOptimizer(0.01)
    train_op = optimizer.minimize(loss, tf.train.get_or_create_global_step())
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops=metrics
    )


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 4)).astype(np.float32)
    labels = {"low": x[:, 0] - x[:, 1], "high": x[:, 2] * x[:, 3]}
    return tf.data.Dataset.from_tensor_slices(({"x": x}, labels)).repeat(6).batch(20)


estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=MODEL_DIR,
    config=tf.estimator.RunConfig(log_step_count_steps=1, tf_random_seed=5),
)
estimator.train(data, steps=8)
RESULT = estimator.evaluate(lambda: data(50, seed=1))
