"""A model class of its own around a graph function, in its Estimator."""

import polyaxon_lib as plx
import tensorflow as tf
from polyaxon_schemas.losses import MeanSquaredErrorConfig
from polyaxon_schemas.optimizers import SGDConfig
from steps import RANDOM, train

INPUTS = RANDOM.rand(16, 3).astype("float32")
LABELS = INPUTS.sum(axis=1, keepdims=True)


def input_fn():
    data = tf.data.Dataset.from_tensor_slices(({"x": INPUTS}, LABELS))
    return data.repeat().batch(8)


def graph_fn(mode, features):
    return plx.layers.Dense(units=1)(features["x"])


def model_fn(features, labels, mode):
    model = plx.models.Regressor(
        mode,
        graph_fn=graph_fn,
        loss=MeanSquaredErrorConfig(),
        optimizer=SGDConfig(learning_rate=0.05),
        name="line",
    )
    return model(features, labels)


train(plx.estimators.Estimator(model_fn=model_fn), input_fn)
