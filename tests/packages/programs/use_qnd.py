"""A command made of a model function and an input function, run by Experiment."""

import sys
import tempfile

import qnd
import tensorflow as tf
from steps import RANDOM

INPUTS = RANDOM.rand(32, 4).astype("float32")
LABELS = INPUTS.sum(axis=1)
FOLDER = tempfile.mkdtemp()


def model(x, y=None):
    guess = tf.squeeze(tf.layers.dense(x, 1), 1)
    loss = tf.losses.mean_squared_error(y, guess)
    step = tf.contrib.framework.get_global_step()
    return guess, loss, tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)


def read():
    inputs = tf.train.input_producer(INPUTS, shuffle=False).dequeue()
    return {"x": inputs}, {"y": tf.reduce_sum(inputs)}


command = qnd.def_train_and_evaluate(prepare_filename_queues=False)
sys.argv = [
    "qnd",
    "--output_dir",
    FOLDER,
    "--train_steps",
    "3",
    "--eval_steps",
    "2",
    "--batch_size",
    "8",
]
metrics, _ = command(model, read)
assert metrics["global_step"] == 3, metrics
print("TRAINED 3 {:.6f}".format(metrics["loss"]))
