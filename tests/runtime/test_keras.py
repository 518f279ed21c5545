"""A compiled Keras model trains in the loop as it does in Keras itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
import tf_keras
from tfmigrate.runtime.keras import model_to_estimator
from tfmigrate.runtime.receivers import (
    build_raw_serving_input_receiver_fn,
    placeholder,
)

X = np.random.RandomState(0).rand(40, 3).astype(np.float32)
Y = (X.sum(1) > 1.5).astype(np.int32)


def data() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(8)


def compiled(optimizer: Any) -> tf_keras.Model:
    tf_keras.utils.set_random_seed(3)
    model = tf_keras.Sequential(
        [
            tf_keras.layers.Dense(
                5, "relu", input_shape=(3,), kernel_regularizer="l2", name="hidden"
            ),
            tf_keras.layers.BatchNormalization(),
            tf_keras.layers.Dense(2, "softmax", name="scores"),
        ]
    )
    model.compile(optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


@pytest.mark.parametrize(
    "make",
    [
        lambda: tf_keras.optimizers.legacy.SGD(0.1, momentum=0.9),
        lambda: tf_keras.optimizers.legacy.Adam(0.01),
    ],
)
def test_trains_as_keras_does(make: Any, tmp_path: Path) -> None:
    model = compiled(make())
    start = model.get_weights()
    estimator = model_to_estimator(model, model_dir=tmp_path)
    estimator.train(data)
    assert all(map(np.array_equal, model.get_weights(), start))
    figures = estimator.evaluate(data)
    predicted = [p["scores"] for p in estimator.predict(data)]
    model.fit(data(), epochs=1, verbose=0)
    names = [weight.name.split(":")[0] for weight in model.weights]
    for name, value in zip(names, model.get_weights(), strict=True):
        # Sums over batches of eight, in one order or another.
        np.testing.assert_allclose(
            estimator.get_variable_value(name), value, rtol=1e-5, atol=1e-6
        )
    loss, accuracy = model.evaluate(data(), verbose=0)
    assert figures["loss"] == pytest.approx(loss, rel=1e-5)
    assert figures["accuracy"] == figures["acc"] == pytest.approx(accuracy)
    np.testing.assert_allclose(predicted, model.predict(data(), verbose=0), rtol=1e-4)


def test_a_model_with_a_recurrent_layer_is_served(tmp_path: Path) -> None:
    """Its weights have other names in the graph that is exported than in files."""
    model = tf_keras.Sequential(
        [
            tf_keras.layers.Reshape((3, 1), input_shape=(3,), name="steps"),
            tf_keras.layers.LSTM(4, name="memory"),
            tf_keras.layers.Dense(2, "softmax", name="scores"),
        ]
    )
    adam = tf.compat.v1.train.AdamOptimizer(0.01)
    model.compile(adam, "sparse_categorical_crossentropy")
    estimator = model_to_estimator(model, model_dir=tmp_path / "model")
    estimator.train(data)
    assert "memory/kernel" in estimator.get_variable_names()
    predicted = [p["scores"] for p in estimator.predict(data)]
    receiver = build_raw_serving_input_receiver_fn(
        {"steps_input": placeholder(tf.float32, [None, 3])}
    )
    path = estimator.export_saved_model(tmp_path / "served", receiver)
    served = tf.saved_model.load(path.decode()).signatures["serving_default"]
    np.testing.assert_allclose(
        served(tf.constant(X))["scores"], predicted, rtol=1e-5, atol=1e-6
    )
