"""Training stops when a figure has not become better for some steps.

The hook looks at the event files of evaluations, every minute if nothing else is said:
a training that is over sooner is never stopped.
"""

import json
import tempfile

import numpy as np
import tensorflow as tf


def data(repeat=None):
    x = np.ones((16, 2), np.float32)
    y = np.ones((16, 1), np.float32)
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat(repeat).batch(8)


def stopped(**settings):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
    model.compile(tf.train.GradientDescentOptimizer(0.0), "mse")
    config = tf.estimator.RunConfig(
        model_dir=tempfile.mkdtemp(), save_checkpoints_steps=5
    )
    estimator = tf.keras.estimator.model_to_estimator(model, config=config)
    early = tf.estimator.experimental.stop_if_no_decrease_hook(
        estimator, "loss", max_steps_without_decrease=10, min_steps=8, **settings
    )
    tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(data, max_steps=100, hooks=[early]),
        tf.estimator.EvalSpec(lambda: data(1), throttle_secs=0),
    )
    return int(estimator.get_variable_value("global_step"))


print(json.dumps([stopped(), stopped(run_every_secs=None, run_every_steps=1)]))
