"""Listeners of checkpoints: what happens when, figures of each, an end of training."""

import json
import os
import tempfile

import numpy as np
import tensorflow as tf

HERE = tempfile.mkdtemp()
TOLD = []


def data(repeat=None):
    draw = np.random.RandomState(1)
    x = draw.normal(size=(64, 3)).astype(np.float32)
    y = x.sum(1, keepdims=True)
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat(repeat).batch(8)


def model_fn(features, labels, mode):
    out = tf.layers.dense(features, 1, kernel_initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(out - labels), name="loss")
    train_op = tf.train.GradientDescentOptimizer(0.01).minimize(
        loss, tf.train.get_global_step()
    )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def saved():
    found = tf.train.latest_checkpoint(HERE)
    return found and os.path.basename(found)


class Steps(tf.train.SessionRunHook):
    def begin(self):
        TOLD.append(["hook begins", saved()])

    def after_run(self, run_context, run_values):
        TOLD.append("step")

    def end(self, session):
        TOLD.append(["hook ends", saved()])


class Tells(tf.train.CheckpointSaverListener):
    """Tells what happens when."""

    def begin(self):
        TOLD.append(["begins", saved()])

    def before_save(self, session, global_step_value):
        del session
        TOLD.append(["before", int(global_step_value), saved()])

    def after_save(self, session, global_step_value):
        TOLD.append(["after", int(global_step_value), saved()])

    def end(self, session, global_step):
        TOLD.append(["ends", saved()])


class Evaluates(tf.estimator.CheckpointSaverListener):
    """Evaluates each checkpoint, and ends training when the loss is small."""

    def __init__(self, estimator, enough):
        self.estimator = estimator
        self.enough = enough

    def after_save(self, session, step):
        figures = self.estimator.evaluate(lambda: data(1))
        TOLD.append([int(step), round(float(figures["loss"]), 5)])
        if figures["loss"] < self.enough:
            return True
        TOLD.append("not yet")
        return False


config = tf.estimator.RunConfig(model_dir=HERE, save_checkpoints_steps=4)
estimator = tf.estimator.Estimator(model_fn, config=config)
estimator.train(data, steps=6, saving_listeners=[Tells()])
estimator.train(
    data,
    hooks=[Steps()],
    max_steps=40,
    saving_listeners=[Tells(), Evaluates(estimator, 2.0)],
)
print(json.dumps(TOLD))
