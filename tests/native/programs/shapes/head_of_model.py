"""A head makes the specification; an optimizer that clips, or a function that trains."""
import tempfile

import numpy as np
import tensorflow as tf


def two_classes(features, labels, mode, params):
    net = tf.layers.dense(
        features['x'], 3, tf.nn.relu, kernel_initializer=tf.constant_initializer(0.3))
    net = tf.layers.batch_normalization(
        net, training=mode == tf.estimator.ModeKeys.TRAIN)
    logits = tf.squeeze(tf.layers.dense(
        net, 1, kernel_initializer=tf.constant_initializer(0.2)), axis=-1)
    head = tf.contrib.estimator.binary_classification_head()
    optimizer = tf.train.AdamOptimizer(params['rate'])
    optimizer = tf.contrib.estimator.clip_gradients_by_norm(optimizer, 0.1)
    return head.create_estimator_spec(
        features=features, mode=mode, logits=tf.expand_dims(logits, -1),
        labels=labels if labels is None else tf.expand_dims(labels, -1),
        optimizer=optimizer)


def three_classes(features, labels, mode):
    head = tf.contrib.estimator.multi_class_head(n_classes=3, weight_column='weight')
    net = tf.layers.batch_normalization(
        features['x'], training=mode == tf.estimator.ModeKeys.TRAIN)
    logits = tf.layers.dense(
        net, head.logits_dimension, kernel_initializer=tf.constant_initializer(
            [[0.1, 0.2, -0.3], [0.3, -0.1, 0.2], [-0.2, 0.1, 0.1]]),
        kernel_regularizer=tf.contrib.layers.l2_regularizer(0.02))

    def train_op_fn(loss):
        step = tf.cast(tf.train.get_global_step(), tf.float32)
        optimizer = tf.train.GradientDescentOptimizer(0.5 / (step + 1.))
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        with tf.control_dependencies(updates):
            return optimizer.minimize(loss, global_step=tf.train.get_global_step())

    return head.create_estimator_spec(
        features=features, mode=mode, labels=labels, logits=logits,
        train_op_fn=train_op_fn,
        regularization_losses=tf.losses.get_regularization_losses())


def input_fn(classes):
    x = np.linspace(-1., 1., 48).reshape(16, 3).astype(np.float32)
    y = (np.arange(16) % classes).astype(np.int64)
    features = {'x': x, 'weight': 1. + np.arange(16, dtype=np.float32)[:, None] % 2.}
    if classes == 3:
        y = y[:, None]
    return tf.data.Dataset.from_tensor_slices((features, y)).repeat(3).batch(6)


first = tf.estimator.Estimator(
    two_classes, tempfile.mkdtemp(), params={'rate': 0.05})
first.train(lambda: input_fn(2))
RESULT = first.evaluate(lambda: input_fn(2))
second = tf.estimator.Estimator(three_classes, tempfile.mkdtemp())
second.train(lambda: input_fn(3))
scores = second.evaluate(lambda: input_fn(3))
RESULT.update({'second ' + name: value for name, value in scores.items()})
one = next(iter(second.predict(lambda: input_fn(3))))
RESULT.update(number=one['class_ids'][0], chance=one['probabilities'][1])
