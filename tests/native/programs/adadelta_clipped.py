import os

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers


def get_model():
    m = tf.keras.Sequential()
    m.add(layers.Dense(8, activation="relu", input_shape=(4,)))
    m.add(layers.Dense(3, activation="softmax"))
    m.compile(
        optimizer=tf.keras.optimizers.Adadelta(lr=1.0, clipnorm=0.05),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return m


def input_fn():
    rng = np.random.RandomState(0)
    x = rng.rand(96, 4).astype(np.float32)
    y = (x.sum(axis=1) * 1.4).astype(np.int32) % 3
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat(5).batch(16)


tf.logging.set_verbosity(tf.logging.INFO)
est = tf.keras.estimator.model_to_estimator(
    keras_model=get_model(), model_dir=os.environ["MODEL_DIR"] or None
)
est.train(input_fn, steps=20)
print(est.evaluate(input_fn, steps=3))
