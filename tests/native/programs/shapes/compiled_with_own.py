"""A compiled Keras model with a loss and a metric of the program."""
import tempfile

import numpy as np
import tensorflow as tf


def off(y_true, y_pred):
    return tf.abs(y_true - y_pred) + .5 * tf.square(y_true - y_pred)


def rmse(y_true, y_pred):
    return tf.sqrt(tf.reduce_mean(tf.square(y_true - y_pred), axis=-1))


X = np.sin(np.arange(36, dtype=np.float32)).reshape(12, 3)
Y = X.sum(1, keepdims=True)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(6)


model = tf.keras.Sequential([
    tf.keras.layers.Dense(4, activation='tanh', input_shape=(3,)),
    tf.keras.layers.Dense(1)])
model.set_weights([np.cos(np.arange(w.size)).reshape(w.shape) for w in model.get_weights()])
model.compile(tf.keras.optimizers.SGD(.05), loss=off, metrics=[rmse])
estimator = tf.keras.estimator.model_to_estimator(model, model_dir=tempfile.mkdtemp())
estimator.train(input_fn)
RESULT = estimator.evaluate(input_fn)
