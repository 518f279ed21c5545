"""A share that a helper keeps is chosen by the mode where that is called."""
import numpy as np
import tensorflow as tf

X = np.sin(np.arange(36, dtype=np.float32)).reshape(12, 3)
Y = X.sum(1)


def network(x, keep):
    net = tf.layers.dense(x, 4, tf.nn.tanh, kernel_initializer=ramp)
    net = tf.nn.dropout(net, keep, seed=1)
    return tf.layers.dense(net, 1, kernel_initializer=ramp)[:, 0]


def model_fn(features, labels, mode):
    guess = network(features, 0.999999 if mode == tf.estimator.ModeKeys.TRAIN else 1.0)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'guess': guess})
    loss = tf.losses.mean_squared_error(labels, guess)
    train_op = tf.train.GradientDescentOptimizer(.05).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
