"""Layers of comprehensions within a loop, as many as its rounds say."""

import numpy as np
import tensorflow as tf

PARAMS = {"tasks": ["read", "like"], "experts": [2, 3], "width": 4, "rate": 0.02}


def experts(net, params):
    found = []
    for task, count in zip(params["tasks"], params["experts"]):
        with tf.variable_scope(task):
            given = [
                tf.layers.dense(
                    net, params["width"], activation=tf.tanh, name=f"expert_{i}"
                )
                for i in range(count)
            ]
            given = tf.stack(given, axis=1)
            gate = tf.layers.dense(net, count, tf.nn.softmax, use_bias=False)
            named = {
                name: tf.layers.dense(given, 1, name=name) for name in ("low", "high")
            }
            mixed = tf.reduce_sum(given * gate[:, :, None], axis=1)
            spread = tf.reduce_mean(named["high"] - named["low"], axis=1)
            found.append(mixed * spread)
    return found


def data(count=80, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 6)).astype(np.float32)
    y = np.abs(x[:, :2]).sum(axis=1, keepdims=True).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, y)).batch(10)


def model_fn(features, labels, mode, params):
    value = tf.layers.dense(tf.add_n(experts(features, params)), 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"value": value})
    loss = tf.losses.mean_squared_error(labels, value)
    optimizer = tf.train.AdamOptimizer(params["rate"])
    return tf.estimator.EstimatorSpec(
        mode,
        loss=loss,
        train_op=optimizer.minimize(loss, tf.train.get_global_step()),
        eval_metric_ops={"mae": tf.metrics.mean_absolute_error(labels, value)},
    )
