"""Two copies of a model: variables by scope, batch norm, summed and clipped gradients."""

import os
import tempfile

import numpy as np
import tensorflow as tf


def tower(x, training):
    with tf.variable_scope("tower", reuse=tf.AUTO_REUSE):
        w = tf.get_variable("w", [5, 8], initializer=tf.glorot_uniform_initializer())
        x = tf.matmul(x, w)
        x = tf.layers.batch_normalization(x, training=training, momentum=0.8)
        return tf.layers.dense(tf.nn.relu(x), 2, name="scores")


def train_op_of(loss, name):
    step = tf.train.get_or_create_global_step()
    rate = tf.train.piecewise_constant(step, [4, 8], [0.1, 0.05, 0.01])
    if name == "momentum":
        optimizer = tf.train.MomentumOptimizer(rate, 0.9)
        train_op = optimizer.minimize(loss, global_step=step)
    else:
        optimizer = tf.train.AdamOptimizer(rate)
        variables = tf.trainable_variables()
        gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 0.7)
        train_op = optimizer.apply_gradients(zip(gradients, variables), step)
    return tf.group(train_op, *tf.get_collection(tf.GraphKeys.UPDATE_OPS))


def model_fn(features, labels, mode, params):
    logits = tower(features, mode == tf.estimator.ModeKeys.TRAIN)
    one_hot = tf.one_hot(labels, 2)
    loss = tf.reduce_mean(tf.reduce_sum((one_hot - tf.nn.softmax(logits)) ** 2, 1))
    if mode == tf.estimator.ModeKeys.TRAIN:
        train_op = train_op_of(loss, params["optimizer"])
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
    metrics = {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, 1))}
    return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)


def data(count):
    rng = np.random.RandomState(1)
    x = rng.normal(size=(count, 5)).astype("float32")
    return tf.data.Dataset.from_tensor_slices((x, (x[:, 0] > 0).astype("int64")))


MODEL_DIR = os.environ.get("MODEL_DIR") or tempfile.mkdtemp()
OPTIMIZER = os.environ.get("OPTIMIZER", "momentum")
strategy = tf.distribute.MirroredStrategy()
config = tf.estimator.RunConfig(train_distribute=strategy)
estimator = tf.estimator.Estimator(
    model_fn, MODEL_DIR, config, params={"optimizer": OPTIMIZER}
)
estimator.train(lambda: data(60).repeat().batch(12), steps=12)
RESULT = estimator.evaluate(lambda: data(40).batch(12))
