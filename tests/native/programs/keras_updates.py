"""A model of Keras whose averages its own updates move, on noisy inputs."""

import numpy as np
import tensorflow as tf

PARAMS = {"units": 5, "noise": 0.0}


def network(params):
    model = tf.keras.Sequential(name="coder")
    model.add(tf.keras.layers.Dense(params["units"], activation="tanh"))
    model.add(tf.keras.layers.BatchNormalization())
    model.add(tf.keras.layers.Dense(3))
    return model


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 3)).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(x).repeat(6).batch(20)


def model_fn(features, labels, mode, params):
    given = features
    if mode == tf.estimator.ModeKeys.TRAIN:
        noise = tf.random_normal(tf.shape(features))
        given = features + params["noise"] * noise
    coder = network(params)
    decoded = coder(given, training=mode == tf.estimator.ModeKeys.TRAIN)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=decoded)
    loss = tf.losses.mean_squared_error(features, decoded)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"mae": tf.metrics.mean_absolute_error(features, decoded)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    updates = coder.get_updates_for(None) + coder.get_updates_for(given)
    with tf.control_dependencies(updates):
        train_op = tf.train.AdamOptimizer(0.02).minimize(
            loss, tf.train.get_global_step()
        )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
