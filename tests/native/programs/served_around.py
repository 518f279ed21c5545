"""Serves what other receivers take: as it is, or with more computed of it."""

import functools
import os

import numpy as np
import tensorflow as tf

OUT = os.environ["EXPORTS"]
SPEC = {
    "x": tf.FixedLenFeature([4], tf.float32),
    "y": tf.FixedLenFeature([], tf.int64),
}
export = tf.estimator.export


def model_fn(features, labels, mode):
    logits = tf.layers.dense(
        features["x"], 3, kernel_initializer=tf.constant_initializer(0.1)
    )
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"class": tf.argmax(logits, 1), "logits": logits}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.GradientDescentOptimizer(0.5).minimize(
        loss, tf.train.get_global_step()
    )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    x = np.random.RandomState(1).uniform(-1, 1, size=(40, 4)).astype("float32")
    y = (x[:, 0] > 0).astype("int32") + (x[:, 1] > 0.3).astype("int32")
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).batch(8)


def unlabelled(spec, label):
    """Features that come serialized, and no label among them."""
    spec = {name: one for name, one in spec.items() if name != label}
    found = export.build_parsing_serving_input_receiver_fn(spec)()
    return export.ServingInputReceiver(found.features, found.receiver_tensors)


def scaled():
    found = export.build_parsing_serving_input_receiver_fn({"x": SPEC["x"]})()
    features = found.features
    features["x"] = features["x"] * 2.0
    return export.ServingInputReceiver(features, found.receiver_tensors)


def clipped():
    found = export.build_raw_serving_input_receiver_fn(
        {"x": tf.placeholder(tf.float32, [None, 4], name="x")}
    )()
    return export.ServingInputReceiver(
        receiver_tensors=found.receiver_tensors,
        features={k: tf.clip_by_value(v, -0.5, 0.5) for k, v in found.features.items()},
    )


def main():
    estimator = tf.estimator.Estimator(model_fn, os.path.join(OUT, "model"))
    estimator.train(input_fn)
    receiver = functools.partial(unlabelled, SPEC, label="y")
    estimator.export_savedmodel(os.path.join(OUT, "again"), receiver)
    estimator.export_savedmodel(os.path.join(OUT, "scaled"), scaled)
    estimator.export_savedmodel(os.path.join(OUT, "clipped"), clipped)


main()
