"""A module made, trained inside an Estimator, exported, and loaded again."""

import os
import tempfile

import tensorflow as tf
import tensorflow_hub as hub
from steps import RANDOM, train

INPUTS = RANDOM.rand(32, 6).astype("float32")
LABELS = RANDOM.randint(2, size=(32, 1)).astype("float32")


def encoder():
    inputs = tf.compat.v1.placeholder(tf.float32, [None, 6])
    weights = tf.compat.v1.get_variable("weights", [6, 4])
    hub.add_signature(inputs=inputs, outputs=tf.tanh(tf.matmul(inputs, weights)))


def input_fn():
    data = tf.data.Dataset.from_tensor_slices(({"x": INPUTS}, LABELS))
    return data.repeat().batch(8)


def model_fn(features, labels, mode, params):
    module = hub.Module(params["module"], trainable=True)
    hub.register_module_for_export(module, "encoder")
    logits = tf.compat.v1.layers.dense(module(features["x"]), 1)
    if labels is None:
        return tf.estimator.EstimatorSpec(mode, predictions=logits)
    loss = tf.compat.v1.losses.sigmoid_cross_entropy(labels, logits)
    train_op = tf.compat.v1.train.AdagradOptimizer(0.1).minimize(
        loss, tf.compat.v1.train.get_global_step()
    )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def serving():
    features = {"x": tf.compat.v1.placeholder(tf.float32, [None, 6])}
    return tf.estimator.export.ServingInputReceiver(features, features)


spec = hub.create_module_spec(encoder)
estimator = tf.estimator.Estimator(model_fn, params={"module": spec})
train(estimator, input_fn)

exporter = hub.LatestModuleExporter("modules", serving)
folder = exporter.export(estimator, tempfile.mkdtemp(), estimator.latest_checkpoint())
if isinstance(folder, bytes):
    folder = folder.decode()
again = tf.estimator.Estimator(
    model_fn, params={"module": os.path.join(folder, "encoder")}
)
train(again, input_fn)
