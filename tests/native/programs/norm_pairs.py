"""Batch normalization written twice, for training and for inference, and chosen from."""

import os

import numpy as np
import tensorflow as tf


def normalized(x, training, scope):
    trained = tf.contrib.layers.batch_norm(
        x, decay=0.9, scale=True, is_training=True, reuse=None, scope=scope
    )
    inferred = tf.contrib.layers.batch_norm(
        x, decay=0.9, scale=True, is_training=False, reuse=True, scope=scope
    )
    return tf.cond(tf.cast(training, tf.bool), lambda: trained, lambda: inferred)


def chosen(x, training):
    return tf.cond(
        tf.cast(training, tf.bool),
        lambda: tf.contrib.layers.batch_norm(
            x, is_training=True, updates_collections=None, scope="second"
        ),
        lambda: tf.contrib.layers.batch_norm(
            x, is_training=False, updates_collections=None, scope="second", reuse=True
        ),
    )


def model_fn(features, labels, mode):
    training = mode == tf.estimator.ModeKeys.TRAIN
    net = tf.layers.dense(features, 8, tf.nn.relu)
    net = normalized(net, training, "first")
    net = chosen(tf.layers.dense(net, 4), mode == tf.estimator.ModeKeys.TRAIN)
    net = tf.layers.dense(net, 1)
    loss = tf.losses.mean_squared_error(labels, net)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = tf.train.GradientDescentOptimizer(0.05).minimize(
            loss, global_step=tf.train.get_global_step()
        )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 5)).astype(np.float32)
    y = x.sum(axis=1, keepdims=True)
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat(6).batch(20)


estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=os.environ["MODEL_DIR"],
    config=tf.estimator.RunConfig(log_step_count_steps=1, tf_random_seed=5),
)
estimator.train(data, steps=8)
RESULT = estimator.evaluate(lambda: data(50, seed=1))
