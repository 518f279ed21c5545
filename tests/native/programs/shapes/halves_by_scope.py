"""A wide and a deep half, each with the optimizer of its scope."""
import tempfile

import numpy as np
import tensorflow as tf

AGE = tf.feature_column.numeric_column('age')
AGES = tf.feature_column.bucketized_column(AGE, [0.25, 0.5, 0.75])


def model_fn(features, labels, mode, params):
    with tf.variable_scope('linear'):
        wide = tf.feature_column.linear_model(features, [AGES], units=1)
    with tf.variable_scope('dnn'):
        net = tf.feature_column.input_layer(features, [AGE])
        for units in params['hidden']:
            net = tf.layers.dense(
                net, units, kernel_initializer=tf.constant_initializer(0.4))
        deep = tf.layers.dense(
            net, 1, kernel_initializer=tf.constant_initializer(0.3))
    loss = tf.losses.mean_squared_error(labels, wide + deep)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    step = tf.train.get_global_step()
    of_linear = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, 'linear')
    of_dnn = tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, 'dnn')
    train_op = tf.group(
        tf.train.FtrlOptimizer(0.1).minimize(loss, var_list=of_linear),
        tf.train.AdagradOptimizer(0.05).minimize(loss, var_list=of_dnn),
        tf.assign_add(step, 1))
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    x = np.linspace(0., 1., 48).reshape(48, 1).astype(np.float32)
    data = tf.data.Dataset.from_tensor_slices(({'age': x}, 2 * x * x))
    return data.repeat().batch(6)


estimator = tf.estimator.Estimator(
    model_fn, tempfile.mkdtemp(), params={'hidden': [3, 2]})
estimator.train(input_fn, steps=12)
RESULT = estimator.evaluate(input_fn, steps=4)
