"""A compiled Keras model with a loss and a metric of the program; and a plain one."""
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


def compiled():
    model = tf.keras.Sequential([
        tf.keras.layers.Dense(4, activation='tanh', input_shape=(3,)),
        tf.keras.layers.BatchNormalization(momentum=.9),
        tf.keras.layers.Dense(1)])
    model.set_weights([
        np.cos(np.arange(w.size)).reshape(w.shape) if w.ndim == 2 else w
        for w in model.get_weights()])
    model.compile(tf.keras.optimizers.SGD(.05), loss=off, metrics=[rmse])
    return model


def model_fn(features, labels, mode):
    net = tf.layers.batch_normalization(
        features, momentum=.8, training=mode == tf.estimator.ModeKeys.TRAIN)
    net = tf.layers.dense(net, 1, kernel_initializer=tf.constant_initializer(.3))
    loss = tf.losses.mean_squared_error(tf.cast(labels, tf.float32), net)
    train_op = tf.contrib.layers.optimize_loss(
        loss, tf.train.get_global_step(), .1, 'SGD', summaries=[])
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


estimator = tf.keras.estimator.model_to_estimator(
    compiled(), model_dir=tempfile.mkdtemp())
estimator.train(input_fn)
RESULT = estimator.evaluate(input_fn)
plain = tf.estimator.Estimator(model_fn, tempfile.mkdtemp())
plain.train(input_fn)
RESULT['plain'] = plain.evaluate(input_fn)['loss']
