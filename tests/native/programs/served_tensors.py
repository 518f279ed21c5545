"""Serves plain tensors, after an export by hand."""

import os

import numpy as np
import tensorflow as tf

OUT = os.environ["EXPORTS"]


def main():
    estimator = tf.estimator.Estimator(model_fn, os.path.join(OUT, "model"))
    estimator.train(input_fn)
    tensors = {"x": tf.placeholder(tf.float32, [None, 4])}
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn(tensors)
    folder = estimator.export_savedmodel(os.path.join(OUT, "by_hand"), receiver)
    assert os.path.isdir(folder.decode())
    rows = list(estimator.predict(input_fn))
    np.savez(
        os.path.join(OUT, "predictions.npz"),
        **{key: np.stack([row[key] for row in rows]) for key in rows[0]},
    )


main()
