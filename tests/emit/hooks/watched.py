"""Stock hooks, event files and early stopping around one model."""

import glob
import json
import os
import tempfile

import numpy as np
import tensorflow as tf

HERE = tempfile.mkdtemp()


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


config = tf.estimator.RunConfig(
    model_dir=HERE, save_summary_steps=10, save_checkpoints_steps=1000
)
estimator = tf.estimator.Estimator(model_fn, config=config)
# The loss of these data falls to nothing: a figure that small stops the training.
enough = tf.contrib.estimator.stop_if_lower_hook(
    estimator, "loss", threshold=0.5, min_steps=30
)
train_spec = tf.estimator.TrainSpec(
    data,
    max_steps=400,
    hooks=[
        enough,
        tf.train.NanTensorHook("loss:0"),
        tf.train.ProfilerHook(save_steps=45, output_dir=HERE),
        tf.train.CheckpointSaverHook(HERE, save_steps=20),
    ],
)
eval_spec = tf.estimator.EvalSpec(lambda: data(repeat=1), throttle_secs=0)
tf.estimator.train_and_evaluate(estimator, train_spec, eval_spec)
profiles = glob.glob(os.path.join(HERE, "plugins", "profile", "*"))
print(json.dumps({"folder": HERE, "profiles": len(profiles)}))
