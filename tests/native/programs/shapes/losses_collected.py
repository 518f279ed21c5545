"""Losses, own ones too, and a regularizer that a collection adds up."""
import numpy as np
import tensorflow as tf

layers = tf.contrib.layers


def decay(rate, step):
    return tf.train.exponential_decay(rate, step, 4, 0.8)


def model_fn(features, labels, mode):
    start = tf.constant_initializer(0.2)
    net = layers.fully_connected(
        features['x'], 4, weights_initializer=start,
        weights_regularizer=layers.l2_regularizer(0.1))
    logits = layers.fully_connected(
        net, 2, activation_fn=None, weights_initializer=tf.constant_initializer([
            [0.1, -0.2]] * 4))
    tf.losses.sparse_softmax_cross_entropy(labels, logits)
    spread = tf.losses.mean_squared_error(
        tf.zeros_like(logits), logits, weights=0.01)
    tf.losses.add_loss(0.02 * tf.reduce_mean(tf.abs(logits)))
    size = 0.03 * tf.reduce_mean(tf.square(net))
    tf.losses.add_loss(size)
    total = tf.losses.get_total_loss()
    train_op = layers.optimize_loss(
        total, tf.train.get_global_step(), 0.5, 'SGD', learning_rate_decay_fn=decay)
    return tf.estimator.EstimatorSpec(
        mode, loss=total, train_op=train_op,
        eval_metric_ops={'spread': tf.metrics.mean(spread)})


def input_fn():
    x = np.linspace(-1., 1., 48).reshape(16, 3).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(
        ({'x': x}, (x.sum(1) > 0).astype(np.int32))).repeat(2).batch(6)
