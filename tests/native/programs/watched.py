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
enough = tf.estimator.experimental.stop_if_lower_hook(
    estimator,
    "loss",
    threshold=0.5,
    min_steps=30,
    run_every_secs=None,
    run_every_steps=1,
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
found = {}
for path in glob.glob(os.path.join(HERE, "**", "events*"), recursive=True):
    place = os.path.relpath(os.path.dirname(path), HERE)
    for event in tf.train.summary_iterator(path):
        for value in event.summary.value:
            found.setdefault(place + " " + value.tag, []).append(event.step)
profiles = glob.glob(os.path.join(HERE, "timeline-*.json"))
found["profiles"] = sorted(map(os.path.basename, profiles))
state = tf.train.get_checkpoint_state(HERE)
found["saved"] = [os.path.basename(p) for p in state.all_model_checkpoint_paths]
print(json.dumps(found, sort_keys=True))
