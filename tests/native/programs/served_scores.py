"""A builder's canned classifier of two classes, served from a dict of tensors."""

import os

import numpy as np
import tensorflow as tf

OUT = os.environ["EXPORTS"]
COLUMNS = [tf.feature_column.numeric_column("x", shape=[4])]


def input_fn():
    x = np.random.RandomState(1).uniform(-1, 1, size=(40, 4)).astype("float32")
    y = (x[:, 0] > 0).astype("int32")
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).batch(8)


def serving_fn():
    inputs = {"x": tf.placeholder(tf.float32, [None, 4])}
    features = {key: tf.clip_by_value(x, -1.0, 1.0) for key, x in inputs.items()}
    return tf.estimator.export.ServingInputReceiver(features, inputs)


def build_model(model_dir):
    return tf.estimator.LinearClassifier(COLUMNS, model_dir)


def main():
    model = build_model(os.path.join(OUT, "model"))
    model.train(input_fn)
    model.export_saved_model(os.path.join(OUT, "scores"), serving_fn)


if __name__ == "__main__":
    main()
