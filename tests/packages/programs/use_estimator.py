"""Its model class: a loss by name, an optimizer by name with clipped gradients."""

import estimator
import tensorflow as tf
from steps import RANDOM, STEPS, Steps

INPUTS = RANDOM.rand(32, 4).astype("float32")
LABELS = RANDOM.randint(3, size=32).astype("int32")


def network(features):
    return tf.layers.dense(features, 3)


steps = Steps()
model = estimator.Model(
    network,
    loss="sparse_softmax_cross_entropy",
    optimizer=estimator.optimizer(
        "Adam", 0.01, clip=estimator.clip("global_norm", clip_norm=1.0)
    ),
)
model.train(
    INPUTS,
    LABELS,
    epochs=None,
    batch_size=8,
    shuffle=False,
    steps=STEPS,
    hooks=[steps],
)
assert "loss" in model.evaluate(INPUTS, LABELS)
steps.say()
