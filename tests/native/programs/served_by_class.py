"""Serves what a builder's Estimator has learned: the loop is a class."""

import os

import numpy as np
import tensorflow as tf

OUT = os.environ["EXPORTS"]
WIDTH = 4


def model_fn(features, labels, mode, params):
    zeros = tf.constant_initializer(params["start"])
    logits = tf.layers.dense(features["x"], 3, kernel_initializer=zeros)
    if mode == tf.estimator.ModeKeys.PREDICT:
        predictions = {"class": tf.argmax(logits, 1), "logits": logits}
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    train_op = tf.train.GradientDescentOptimizer(0.5).minimize(
        loss, tf.train.get_global_step()
    )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    x = np.random.RandomState(1).uniform(-1, 1, size=(40, WIDTH)).astype("float32")
    y = (x[:, 0] > 0).astype("int32") + (x[:, 1] > 0.3).astype("int32")
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).batch(8)


class Data:
    def serving_fn(self):
        x = tf.placeholder(tf.float32, [None, WIDTH], name="x")
        return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


def get_estimator(model_dir):
    return tf.estimator.Estimator(model_fn, model_dir, params={"start": 0.1})


def main():
    estimator = get_estimator(os.path.join(OUT, "model"))
    estimator.train(input_fn)
    estimator.export_savedmodel(os.path.join(OUT, "held"), Data().serving_fn)
    rows = list(estimator.predict(input_fn))
    np.savez(
        os.path.join(OUT, "predictions.npz"),
        **{key: np.stack([row[key] for row in rows]) for key in rows[0]},
    )


main()
