"""The mode is the third argument of dropout, which takes it for a shape."""
import numpy as np
import tensorflow as tf

PARAMS = {'layers': [4, 3]}


def model_fn(features, labels, mode, params):
    net = features['x']
    is_training = mode == tf.estimator.ModeKeys.TRAIN
    for units in params['layers']:
        net = tf.layers.dense(
            net, units, tf.nn.relu, kernel_initializer=tf.constant_initializer(0.2),
            trainable=is_training)
        net = tf.layers.dropout(net, 0.5, is_training)
    logits = tf.layers.dense(net, 1, kernel_initializer=tf.constant_initializer(0.3))
    loss = tf.losses.mean_squared_error(labels, logits)
    error = tf.metrics.mean_absolute_error(labels, logits)
    if is_training:
        tf.summary.scalar('error', error[0])
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op,
                                      eval_metric_ops={'error': error})


def input_fn(v_test=False):
    x = np.linspace(-1., 1., 48).reshape(16, 3).astype(np.float32)
    data = tf.data.Dataset.from_tensor_slices(
        ({'x': x}, x.sum(1, keepdims=True))).repeat(2).batch(6)
    if v_test:
        features, labels = data.make_one_shot_iterator().get_next()
        print(features, labels)
    return data
