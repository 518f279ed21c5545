"""A canned classifier with names for its classes, served by parsing examples."""

import os

import numpy as np
import tensorflow as tf

OUT = os.environ["EXPORTS"]
NAMES = ["low", "middle", "high"]


def input_fn():
    x = np.random.RandomState(1).uniform(-1, 1, size=(40, 4)).astype("float32")
    y = (x[:, 0] > 0).astype("int32") + (x[:, 1] > 0.3).astype("int32")
    return tf.data.Dataset.from_tensor_slices(({"x": x}, np.array(NAMES)[y])).batch(8)


def main():
    columns = [tf.feature_column.numeric_column("x", shape=[4])]
    classifier = tf.estimator.LinearClassifier(
        columns, os.path.join(OUT, "model"), n_classes=3, label_vocabulary=NAMES
    )
    classifier.train(input_fn)
    feature_spec = tf.feature_column.make_parse_example_spec(columns)
    receiver_fn = tf.estimator.export.build_parsing_serving_input_receiver_fn(
        feature_spec
    )
    classifier.export_savedmodel(os.path.join(OUT, "classes"), receiver_fn)


if __name__ == "__main__":
    main()
