"""One task of a cluster, which prints what it saw: python program.py MODEL_DIR STEPS

--die STEP     kills itself after a step
--pause STEP   says after a step that it waits, and waits until its input ends
--short        a worker whose data end before those of the others
"""

import argparse
import os
import signal
import sys

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

parser = argparse.ArgumentParser()
parser.add_argument("model_dir")
parser.add_argument("steps", type=int)
for flag in ("--die", "--pause"):
    parser.add_argument(flag, type=int)
parser.add_argument("--short", action="store_true")
options = parser.parse_args()


class Losses(Callback):
    def after_step(self, step, values):
        print("LOSS", step, float(values["loss"]), flush=True)
        if step == options.die:
            os.kill(os.getpid(), signal.SIGKILL)
        if step == options.pause:
            print("WAITS", flush=True)
            sys.stdin.read()


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
        self.metrics = [tf_keras.metrics.MeanSquaredError("error")]

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
    return data.repeat(2 if options.short else None).batch(5)


def train_input_fn(input_context=None):
    """Goes on where the data were when the latest checkpoint was saved."""
    path = tf.train.latest_checkpoint(options.model_dir) or "-0"
    return input_fn(input_context).skip(int(path.rpartition("-")[2]))


servers = '"ps"' in os.environ["TF_CONFIG"]
config = RunConfig(
    options.model_dir,
    save_checkpoints_steps=10,
    strategy=None if servers else tf.distribute.MultiWorkerMirroredStrategy(),
)
trainer = Trainer(Line, config=config)
results, _ = train_and_evaluate(
    trainer,
    TrainSpec(train_input_fn, options.steps, [Losses()]),
    EvalSpec(lambda: input_fn().take(12), None, throttle_secs=0),
)
for name, value in (results or {}).items():
    print("RESULT", name, float(value), flush=True)
