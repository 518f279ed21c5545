"""A loss that a dict tells by name, collected; parts of metrics, named in a loop."""
import tempfile

import numpy as np
import tensorflow as tf

slim = tf.contrib.slim
X = np.sin(np.arange(96.)).reshape(16, 6).astype(np.float32)
Y = X[:, :3] + 0.5


def squared(labels, scores):
    def apart(x):
        return x - tf.reduce_mean(x, 1, keepdims=True)
    return tf.losses.mean_squared_error(apart(labels), apart(scores), weights=0.5)


def absolute(labels, scores):
    if scores.shape[1].value == 3:
        return tf.losses.absolute_difference(labels, scores)
    return tf.losses.compute_weighted_loss(tf.abs(labels - scores))


LOSSES = {'squared': squared, 'absolute': absolute}


def nearest(labels, scores, count):
    errors = tf.abs(labels - scores)[:, :count]
    return tf.reduce_min(errors, 1), tf.to_float(errors[:, 0] > 0.1)


def model_fn(features, labels, mode, params):
    net = slim.fully_connected(
        tf.concat([features['left'], features['right']], 1), 3, activation_fn=None,
        weights_initializer=tf.constant_initializer(0.2),
        weights_regularizer=slim.l2_regularizer(0.1))
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {'scores': net})
    loss_fn = LOSSES[params['loss']]
    loss = loss_fn(labels, net)
    total = tf.losses.get_total_loss()
    metrics = {'plain': tf.metrics.mean(loss)}
    for count in (1, 3):
        error, share = nearest(labels, net, count)
        metrics['nearest_%d' % count] = tf.metrics.mean(error, weights=share)
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        train_op = slim.learning.create_train_op(
            total, tf.train.GradientDescentOptimizer(0.3), clip_gradient_norm=0.2,
            summarize_gradients=False)
    return tf.estimator.EstimatorSpec(
        mode, loss=total, train_op=train_op, eval_metric_ops=metrics)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(
        ({'left': X[:, :2], 'right': X[:, 2:]}, Y)).repeat(2).batch(5)


def receiver():
    left = tf.placeholder(tf.float32, [None, 2])
    right = tf.placeholder(tf.float32, [None, 4])
    features = {'left': left, 'right': right}
    return tf.estimator.export.ServingInputReceiver(features, dict(features))


RESULT = {}
for name in sorted(LOSSES):
    estimator = tf.estimator.Estimator(
        model_fn, tempfile.mkdtemp(), params={'loss': name})
    estimator.train(input_fn)
    found = estimator.evaluate(input_fn)
    RESULT.update((name + key, value) for key, value in found.items())
    assert estimator.export_savedmodel(tempfile.mkdtemp(), receiver)
