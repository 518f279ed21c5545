"""Serves what another receiver takes."""

import os

import numpy as np
import tensorflow as tf

OUT = os.environ["EXPORTS"]
SPEC = {
    "x": tf.FixedLenFeature([4], tf.float32),
    "y": tf.FixedLenFeature([], tf.int64),
}
export = tf.estimator.export


def unlabelled():
    """Features that come serialized, and no label among them."""
    spec = {name: one for name, one in SPEC.items() if name != "y"}
    found = export.build_parsing_serving_input_receiver_fn(spec)()
    return export.ServingInputReceiver(found.features, found.receiver_tensors)


def main():
    estimator = tf.estimator.Estimator(model_fn, os.path.join(OUT, "model"))
    estimator.train(input_fn)
    estimator.export_savedmodel(os.path.join(OUT, "again"), unlabelled)


main()
