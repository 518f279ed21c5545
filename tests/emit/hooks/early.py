"""Training stops when a figure has not become better for some steps."""

import json
import tempfile

import numpy as np
import tensorflow as tf


def data(repeat=None):
    x = np.ones((16, 2), np.float32)
    y = np.ones((16, 1), np.float32)
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat(repeat).batch(8)


model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
model.compile(tf.train.GradientDescentOptimizer(0.0), "mse")
config = tf.estimator.RunConfig(model_dir=tempfile.mkdtemp(), save_checkpoints_steps=5)
estimator = tf.keras.estimator.model_to_estimator(model, config=config)
early = tf.estimator.experimental.stop_if_no_decrease_hook(
    estimator, "loss", max_steps_without_decrease=10, min_steps=8
)
tf.estimator.train_and_evaluate(
    estimator,
    tf.estimator.TrainSpec(data, max_steps=100, hooks=[early]),
    tf.estimator.EvalSpec(lambda: data(1), throttle_secs=0),
)
# Never better than at step 10, where it was looked at first.
print(json.dumps(int(estimator.get_variable_value("global_step"))))
