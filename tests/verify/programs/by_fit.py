"""What somebody makes of a small Estimator by hand: compile, fit, evaluate."""

import importlib
import os

import numpy as np
import tensorflow as tf

keras = importlib.import_module(os.environ.get("KERAS", "tf_keras"))

rng = np.random.default_rng(5)
features = rng.normal(size=(64, 3)).astype(np.float32)
labels = (features[:, 0] > 0).astype(np.int32)


def data(batch):
    return tf.data.Dataset.from_tensor_slices((features, labels)).batch(batch)


strategy = tf.distribute.MirroredStrategy(devices=["/gpu:0", "/gpu:1"])
with strategy.scope():
    model = keras.Sequential(
        [
            keras.layers.Dense(4, activation="tanh"),
            keras.layers.BatchNormalization(),
            keras.layers.Dense(2),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.Adam(0.01, epsilon=1e-8),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=[keras.metrics.SparseCategoricalAccuracy(name="accuracy")],
    )
model.fit(data(8), epochs=3, verbose=0)
print("evaluated", model.evaluate(data(16), verbose=0, return_dict=True))
