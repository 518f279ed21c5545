"""Regularizers given to scopes, variables and layers; a training flag in a helper."""

import numpy as np
import tensorflow as tf

l2 = tf.contrib.layers.l2_regularizer


def block(net, units, is_training):
    net = tf.layers.dense(net, units, kernel_regularizer=l2(0.02))
    if is_training:
        net = tf.identity(net)
    return tf.nn.relu(net)


def model_fn(features, labels, mode, params):
    is_training = mode == tf.estimator.ModeKeys.TRAIN
    with tf.variable_scope("first", regularizer=l2(params["l2"])):
        w = tf.get_variable("w", [6, 5])
        net = tf.matmul(features, w)
    for units in (5, 4):
        net = block(net, units, is_training)
    out = tf.layers.dense(
        net, 1, kernel_regularizer=tf.contrib.layers.l1_regularizer(0.01)
    )
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=out)
    error = tf.losses.mean_squared_error(labels, out)
    penalty = tf.add_n(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    loss = error + penalty
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, eval_metric_ops={"penalty": tf.metrics.mean(penalty)}
        )
    train_op = tf.train.GradientDescentOptimizer(0.05).minimize(
        loss, tf.train.get_global_step()
    )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data(seed):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(160, 6)).astype("float32")
    return tf.data.Dataset.from_tensor_slices((x, x[:, :1] * x[:, 1:2])).batch(10)


def main():
    estimator = tf.estimator.Estimator(model_fn, params={"l2": 0.05})
    estimator.train(lambda: data(1).repeat(), steps=8)
    print(estimator.evaluate(lambda: data(2)))


if __name__ == "__main__":
    main()
