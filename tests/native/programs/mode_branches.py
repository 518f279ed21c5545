"""Each mode makes its forward pass in a branch of its own, as the official models did."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


def create_model(x, units):
    x = tf.layers.dense(x, units, activation=tf.nn.relu)
    return tf.layers.dense(x, 3, activation=tf.nn.tanh)


def network(x, is_training):
    x = tf.layers.dense(x, 6, use_bias=False)
    x = tf.layers.batch_normalization(x, training=is_training, momentum=0.7)
    return tf.layers.dense(x, 2)


def model_fn(features, labels, mode, params):
    image = features
    if isinstance(image, dict):
        image = features["image"]
    hidden = create_model(image, params["units"])

    if mode == tf.estimator.ModeKeys.PREDICT:
        logits = network(hidden, is_training=False)
        predictions = {"classes": tf.argmax(logits, axis=1)}
        return tf.estimator.EstimatorSpec(
            mode=tf.estimator.ModeKeys.PREDICT, predictions=predictions
        )
    if mode == tf.estimator.ModeKeys.TRAIN:
        optimizer = tf.train.AdamOptimizer(0.01)
        logits = network(hidden, is_training=True)
        loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train_op = optimizer.minimize(loss, tf.train.get_or_create_global_step())
        return tf.estimator.EstimatorSpec(
            mode=tf.estimator.ModeKeys.TRAIN, loss=loss, train_op=train_op
        )
    if mode == tf.estimator.ModeKeys.EVAL:
        logits = network(hidden, is_training=False)
        loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
        accuracy = tf.metrics.accuracy(labels=labels, predictions=tf.argmax(logits, 1))
        return tf.estimator.EstimatorSpec(
            mode=tf.estimator.ModeKeys.EVAL,
            loss=loss,
            eval_metric_ops={"accuracy": accuracy},
        )


def data(count=40, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 5)).astype(np.float32)
    y = (x[:, 0] > x[:, 1]).astype(np.int32)
    return tf.data.Dataset.from_tensor_slices(({"image": x}, y)).repeat(4).batch(20)


estimator = tf.estimator.Estimator(
    model_fn,
    MODEL_DIR,
    params={"units": 4},
    config=tf.estimator.RunConfig(log_step_count_steps=1),
)
estimator.train(data)
RESULT = estimator.evaluate(lambda: data(30, 1))
