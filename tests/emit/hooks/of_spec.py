"""Hooks that come with the spec, and a saver in the Estimator's own directory."""

import json
import os
import tempfile

import numpy as np
import tensorflow as tf


def data():
    draw = np.random.RandomState(1)
    x = draw.normal(size=(64, 3)).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True))).batch(4)


def watch(value, name):
    with tf.name_scope(name):
        tf.summary.scalar("mean", tf.reduce_mean(value))
        tf.summary.histogram("all", value)


def model_fn(features, labels, mode):
    out = tf.layers.dense(features, 1)
    watch(out, "out")
    error = tf.reduce_mean(tf.square(out - labels))
    tf.summary.scalar("error", error)
    train_op = tf.train.GradientDescentOptimizer(0.01).minimize(
        error, tf.train.get_global_step()
    )
    shown = {"error": error}
    hooks = [
        tf.train.LoggingTensorHook(shown, every_n_iter=3, at_end=True),
        tf.train.NanTensorHook(error),
        tf.train.SummarySaverHook(
            save_steps=10, output_dir="unused", summary_op=tf.summary.merge_all()
        ),
    ]
    return tf.estimator.EstimatorSpec(
        mode, loss=error, train_op=train_op, training_hooks=hooks
    )


estimator = tf.estimator.Estimator(model_fn, model_dir=tempfile.mkdtemp())
saver = tf.train.CheckpointSaverHook(estimator.model_dir, save_steps=8)
estimator.train(data, hooks=[saver, tf.train.GlobalStepWaiterHook(0)])
files = sorted(f for f in os.listdir(estimator.model_dir) if f.endswith(".index"))
print(json.dumps(files))
