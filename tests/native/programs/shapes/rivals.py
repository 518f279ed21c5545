"""Two networks against each other: one is called behind the return of PREDICT."""
import tempfile

import numpy as np
import tensorflow as tf


def generator(z):
    with tf.variable_scope('gen'):
        hidden = tf.layers.dense(z, 5, tf.nn.tanh, kernel_initializer=ramp)
        return tf.layers.dense(hidden, 4, tf.nn.sigmoid, kernel_initializer=ramp)


def discriminator(x, reuse=False):
    with tf.variable_scope('disc', reuse=reuse):
        hidden = tf.layers.dense(x, 5, tf.nn.tanh, kernel_initializer=ramp)
        return tf.layers.dense(hidden, 1, kernel_initializer=ramp)


def cost(logits, label):
    return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(
        logits=logits, labels=label * tf.ones_like(logits)))


def model_fn(features, labels, mode):
    fake, real = generator(features['z']), features['x']
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={'fake': fake})
    d_real = discriminator(real)
    d_fake = discriminator(fake, reuse=True)
    d_loss = cost(d_real, 1.) + cost(d_fake, 0.)
    g_loss = cost(d_fake, 1.)
    loss = d_loss + g_loss
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, eval_metric_ops={'d_loss': tf.metrics.mean(d_loss)})
    d_vars = [v for v in tf.trainable_variables() if v.name.startswith('disc')]
    g_vars = [v for v in tf.trainable_variables() if v.name.startswith('gen')]
    optimizer = tf.train.GradientDescentOptimizer(.1)
    d_op = optimizer.minimize(d_loss, var_list=d_vars)
    g_op = tf.train.GradientDescentOptimizer(.2).minimize(
        g_loss, var_list=g_vars, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.group(d_op, g_op))


X = (np.sin(np.arange(48, dtype=np.float32)).reshape(12, 4) + 1.) / 2.
Z = np.cos(np.arange(36, dtype=np.float32)).reshape(12, 3)


def input_fn():
    return tf.data.Dataset.from_tensor_slices({'x': X, 'z': Z}).batch(12)


estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp())
for _ in range(3):
    estimator.train(input_fn)
RESULT = estimator.evaluate(input_fn)
RESULT['sum'] = sum(one['fake'].sum() for one in estimator.predict(input_fn))
