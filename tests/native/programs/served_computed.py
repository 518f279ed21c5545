"""Serves what is computed of placeholders in a dictionary that a loop fills."""

import os

import numpy as np
import tensorflow as tf

OUT = os.environ["EXPORTS"]


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


def scaled(features):
    features["x"] = features["x"] * 2.0 - features["x"]
    return features


def served():
    inputs = {}
    for name in ("x",):
        inputs[name] = tf.placeholder(tf.float32, [None, 4], name=name)
    features = {key: tf.clip_by_value(one, -1, 1) for key, one in inputs.items()}
    return tf.estimator.export.ServingInputReceiver(scaled(features), inputs)


SERVED = {"tensors": served}


def main():
    estimator = tf.estimator.Estimator(model_fn, os.path.join(OUT, "model"))
    estimator.train(input_fn)
    estimator.export_savedmodel(os.path.join(OUT, "by_hand"), SERVED["tensors"])
    rows = list(estimator.predict(input_fn))
    np.savez(
        os.path.join(OUT, "predictions.npz"),
        **{key: np.stack([row[key] for row in rows]) for key in rows[0]},
    )


main()
