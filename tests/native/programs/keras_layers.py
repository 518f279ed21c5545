"""Layers of Keras that a model_fn makes as it goes, and one that it calls twice."""

import tensorflow as tf
from tensorflow.keras import layers

PARAMS = {"units": 4}


def block(x, units, training):
    x = layers.Conv1D(units, 2, padding="same", use_bias=False)(x)
    x = layers.Dropout(0.0)(x, training=training)
    return layers.Activation("relu")(x)


def model_fn(features, labels, mode, params):
    training = mode == tf.estimator.ModeKeys.TRAIN
    net = block(features, params["units"], training)
    net = block(net, 3, training)
    both = layers.Bidirectional(layers.LSTM(3, return_sequences=True))(net)
    shared = layers.Dense(5, activation=tf.nn.tanh)
    net = shared(both) + shared(2.0 * both)
    net = layers.Dropout(0.9)(net)
    net = layers.GlobalAveragePooling1D()(net)
    net = tf.layers.dense(net, 4)
    for units in (3, 2):
        net = layers.Dense(units, activation="elu")(net)
    output = layers.Dense(1, name="output")(net)
    loss = tf.losses.mean_squared_error(labels, output)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"mae": tf.metrics.mean_absolute_error(labels, output)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = tf.train.GradientDescentOptimizer(0.02).minimize(
            loss, tf.train.get_global_step()
        )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
