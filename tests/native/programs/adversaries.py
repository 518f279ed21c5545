"""Two networks that train against each other, with a loss and an optimizer each."""

import numpy as np
import tensorflow as tf

PARAMS = {"d_rate": 0.01, "g_rate": 0.02}


def generator(z):
    with tf.variable_scope("generator"):
        net = tf.layers.dense(z, 16, tf.nn.relu)
        return tf.layers.dense(net, 2)


def discriminator(x, reuse=False):
    with tf.variable_scope("discriminator", reuse=reuse):
        net = tf.layers.dense(x, 16, tf.nn.leaky_relu, name="hidden")
        return tf.layers.dense(net, 1, name="logits")


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    angle = draw.uniform(0, 6.28, count)
    x = np.stack([np.cos(angle), np.sin(angle)], 1).astype(np.float32)
    z = draw.normal(size=(count, 4)).astype(np.float32)
    features = {"x": x, "z": z}
    return tf.data.Dataset.from_tensor_slices(features).repeat(6).batch(20)


def model_fn(features, labels, mode, params):
    fake = generator(features["z"])
    real_logits = discriminator(features["x"])
    fake_logits = discriminator(fake, reuse=True)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"fake": fake})
    d_loss = tf.losses.sigmoid_cross_entropy(
        tf.ones_like(real_logits), real_logits
    ) + tf.losses.sigmoid_cross_entropy(tf.zeros_like(fake_logits), fake_logits)
    g_loss = tf.losses.sigmoid_cross_entropy(tf.ones_like(fake_logits), fake_logits)
    loss = d_loss + g_loss
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"d_loss": tf.metrics.mean(d_loss)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    tf.summary.scalar("d_loss", d_loss)
    d_vars = tf.trainable_variables("discriminator")
    g_vars = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="generator")
    d_optimizer = tf.train.AdamOptimizer(params["d_rate"], beta1=0.5)
    g_optimizer = tf.train.AdamOptimizer(params["g_rate"], beta1=0.5)
    d_step = d_optimizer.minimize(d_loss, var_list=d_vars)
    g_step = g_optimizer.minimize(
        g_loss, global_step=tf.train.get_global_step(), var_list=g_vars)
    train_op = tf.group(d_step, g_step)
    hook = tf.train.LoggingTensorHook({"d": d_loss, "g": g_loss}, every_n_iter=10)
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, training_hooks=[hook])
