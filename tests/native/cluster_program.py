"""Trains where its flags, or a TF_CONFIG of its own, say: program.py MODEL_DIR"""

import json
import os
import sys

import numpy as np
import tensorflow as tf

# What the platform calls its tasks.
if "CLUSTER" in os.environ:
    os.environ["TF_CONFIG"] = json.dumps(
        {
            "cluster": json.loads(os.environ["CLUSTER"]),
            "task": {"type": os.environ["ROLE"], "index": int(os.environ["INDEX"])},
        }
    )


def input_fn():
    x = np.arange(24, dtype=np.float32).reshape(12, 2) / 24
    data = tf.data.Dataset.from_tensor_slices(({"x": x}, x.sum(1, keepdims=True)))
    return data.repeat().batch(4)


def model_fn(features, labels, mode):
    net = tf.layers.dense(features["x"], 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": net})
    loss = tf.losses.mean_squared_error(labels, net)
    optimizer = tf.train.GradientDescentOptimizer(0.3)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


config = tf.estimator.RunConfig(sys.argv[1], save_checkpoints_steps=50)
estimator = tf.estimator.Estimator(model_fn, config=config)
tf.estimator.train_and_evaluate(
    estimator,
    tf.estimator.TrainSpec(input_fn, max_steps=100),
    tf.estimator.EvalSpec(lambda: input_fn().take(3), start_delay_secs=0),
)
if config.is_chief:
    figures = estimator.evaluate(lambda: input_fn().take(3))
    print("FIGURES", figures["loss"], figures["global_step"], config.task_type)
