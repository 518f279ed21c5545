"""One task of a cluster: python cluster_program.py MODEL_DIR STEPS [SECONDS_PER_STEP]

It prints as JSON what it saw: the losses of its steps, and the evaluations.
"""

import json
import os
import sys
import time

import numpy as np
import tensorflow as tf
import tf_keras
from training import (
    Callback,
    EvalSpec,
    RunConfig,
    Task,
    Trainer,
    TrainSpec,
    train_and_evaluate,
)

MODEL_DIR, STEPS = sys.argv[1], int(sys.argv[2])
SEEN = {"losses": [], "steps": []}


class Losses(Callback):
    def after_step(self, step, values):
        SEEN["losses"].append(float(values["loss"]))
        SEEN["steps"].append(step)
        time.sleep(float(os.environ.get("PAUSE", 0)))


class Line(Task):
    def __init__(self):
        first = tf.constant_initializer(np.linspace(-0.5, 0.5, 12).reshape(4, 3))
        self.model = tf_keras.Sequential(
            [
                tf_keras.layers.Dense(3, "tanh", kernel_initializer=first),
                tf_keras.layers.BatchNormalization(momentum=0.8),
                tf_keras.layers.Dense(1, kernel_initializer="ones"),
            ]
        )
        self.optimizer = tf_keras.optimizers.SGD(0.02, 0.9)
        self.metrics = [tf_keras.metrics.MeanSquaredError("mse")]

    def loss(self, features, labels, outputs):
        return tf.reduce_mean((outputs - labels) ** 2)


def input_fn(input_context=None):
    x = np.sin(np.arange(240, dtype=np.float32)).reshape(60, 4)
    y = x.sum(axis=1, keepdims=True) * 2 + 1
    data = tf.data.Dataset.from_tensor_slices((x, y))
    if input_context is not None:  # each worker reads its share
        data = data.shard(
            input_context.num_input_pipelines, input_context.input_pipeline_id
        )
    return data.repeat(int(os.environ.get("EPOCHS", -1))).batch(5)


strategy = None
if "ps" not in os.environ.get("TF_CONFIG", ""):
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
config = RunConfig(
    MODEL_DIR, save_checkpoints_steps=int(os.environ.get("SAVE", 10)), strategy=strategy
)
trainer = Trainer(Line, config=config)
hooks = [Losses()] if "UNSEEN" not in os.environ else None
evaluated = train_and_evaluate(
    trainer,
    TrainSpec(input_fn, STEPS, hooks),
    EvalSpec(lambda: input_fn().take(12), None, throttle_secs=0),
)
SEEN["evaluated"] = {k: float(v) for k, v in (evaluated[0] or {}).items()}
print("SEEN", json.dumps(SEEN), flush=True)
