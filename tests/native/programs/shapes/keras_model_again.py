"""A Keras model that is called twice, on two parts of the features."""
import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode):
    is_training = mode == tf.estimator.ModeKeys.TRAIN
    network = tf.keras.Sequential([
        tf.keras.layers.Dense(4, activation='tanh', kernel_initializer=ramp),
        tf.keras.layers.Dropout(0.),
        tf.keras.layers.Dense(2, kernel_initializer=ramp),
    ])
    one = network(features['one'], training=is_training)
    other = network(features['other'], training=is_training)
    gap = tf.reduce_sum(tf.square(one - other), 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'gap': gap})
    loss = tf.reduce_mean(tf.nn.relu(gap - 1.) + .1 * gap)
    train_op = tf.train.AdamOptimizer(.05).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op,
        eval_metric_ops={'gap': tf.metrics.mean(gap)})


X = np.sin(np.arange(48.)).reshape(12, 4).astype(np.float32)


def input_fn():
    data = {'one': X, 'other': np.roll(X, 2, 0)}
    return tf.data.Dataset.from_tensor_slices(data).batch(4)
