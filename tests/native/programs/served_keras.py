"""Serves a compiled Keras model: the signature has its output layer's name."""

import os

import numpy as np
import tensorflow as tf

OUT = os.environ["EXPORTS"]


def serving_fn():
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})


def main():
    inputs = tf.keras.Input((4,), name="x")
    hidden = tf.keras.layers.Dense(
        5, activation="tanh", kernel_initializer=tf.keras.initializers.Constant(0.1)
    )(inputs)
    scores = tf.keras.layers.Dense(
        3,
        activation="softmax",
        name="scores",
        kernel_initializer=tf.keras.initializers.Constant(0.2),
    )(hidden)
    model = tf.keras.Model(inputs, scores)
    model.compile("sgd", "sparse_categorical_crossentropy")
    estimator = tf.keras.estimator.model_to_estimator(
        model, model_dir=os.path.join(OUT, "model")
    )
    estimator.train(input_fn)
    estimator.export_saved_model(os.path.join(OUT, "keras"), serving_fn)


main()
