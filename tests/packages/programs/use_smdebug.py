"""The hook that saves tensors, on an Estimator of its own."""

import tempfile

import smdebug.tensorflow as smd
import tensorflow as tf
from steps import RANDOM, STEPS, Steps

INPUTS = RANDOM.rand(32, 4).astype("float32")
LABELS = RANDOM.rand(32, 1).astype("float32")
FOLDER = tempfile.mkdtemp() + "/saved"


def input_fn():
    return tf.data.Dataset.from_tensor_slices((INPUTS, LABELS)).repeat().batch(8)


def model_fn(features, labels, mode):
    loss = tf.losses.mean_squared_error(labels, tf.layers.dense(features, 1))
    optimizer = hook.wrap_optimizer(tf.train.GradientDescentOptimizer(0.1))
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


hook = smd.EstimatorHook(
    FOLDER,
    include_collections=["losses", "weights", "gradients"],
    save_config=smd.SaveConfig(save_interval=1),
)
steps = Steps()
hook.set_mode(smd.modes.TRAIN)
tf.estimator.Estimator(model_fn).train(input_fn, steps=STEPS, hooks=[hook, steps])
trial = smd.create_trial(FOLDER)
assert trial.steps() == [0, 1, 2], trial.steps()
assert trial.tensor_names(collection="weights"), trial.tensor_names()
steps.say()
