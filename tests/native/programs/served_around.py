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
