"""Metrics as a function and what it is called with, as TPUs want them; and a host's."""
import tempfile

import numpy as np
import tensorflow as tf


class Flags(object):
    use_tpu = False


def model_fn(features, labels, mode, params):
    logits = tf.layers.dense(
        features['x'], 2, kernel_initializer=tf.constant_initializer(
            [[0.1, -0.2], [0.3, 0.1], [-0.2, 0.4]]))
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=logits)
    loss = tf.reduce_mean(losses)
    left, right = tf.split(logits, 2, axis=1)
    loss += tf.contrib.losses.metric_learning.contrastive_loss(
        labels, left, right, margin=.7)
    train_op = eval_metrics = host_call = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        optimizer = tf.train.GradientDescentOptimizer(0.5)
        if params['use_tpu']:
            optimizer = tf.contrib.tpu.CrossShardOptimizer(optimizer)
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
        if Flags.use_tpu and params['use_tpu']:
            def host_call_fn(step):
                return tf.contrib.summary.scalar('step', step[0], step=step[0])
            host_call = (host_call_fn, [tf.reshape(tf.train.get_global_step(), [1])])
        else:
            tf.summary.scalar('largest', tf.reduce_max(losses))
    else:
        def metric_fn(losses, labels, logits):
            predictions = tf.argmax(logits, axis=-1, output_type=tf.int32)
            return {
                'eval_accuracy': tf.metrics.accuracy(labels, predictions),
                'eval_loss': tf.metrics.mean(losses),
            }

        eval_metrics = (metric_fn, [losses, labels, logits])
    return tf.contrib.tpu.TPUEstimatorSpec(
        mode=mode, loss=loss, train_op=train_op, eval_metrics=eval_metrics,
        host_call=host_call)


def input_fn(params):
    x = np.linspace(-1., 1., 48).reshape(16, 3).astype(np.float32)
    y = (x[:, 0] > 0).astype(np.int32)
    data = tf.data.Dataset.from_tensor_slices(({'x': x}, y)).repeat(2)
    return data.batch(params['batch_size'], drop_remainder=True)


estimator = tf.contrib.tpu.TPUEstimator(
    model_fn, model_dir=tempfile.mkdtemp(), use_tpu=Flags.use_tpu,
    train_batch_size=6, eval_batch_size=4, config=tf.contrib.tpu.RunConfig(),
    params={'use_tpu': False})
estimator.train(input_fn, max_steps=8)
RESULT = estimator.evaluate(input_fn, steps=4)
