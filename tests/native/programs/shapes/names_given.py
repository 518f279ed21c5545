"""Names of variables and tensors that whoever calls gives."""

import tensorflow as tf


class Stops(tf.train.SessionRunHook):
    def __init__(self, name):
        self.name = name

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.name)

    def after_run(self, run_context, run_values):
        if run_values.results < 0.1:
            run_context.request_stop()


def dice(x, name):
    alphas = tf.get_variable(
        "alpha_" + name, x.get_shape()[-1], initializer=tf.zeros_initializer()
    )
    share = tf.sigmoid(tf.layers.batch_normalization(x, scale=False, name=name))
    return alphas * (1.0 - share) * x + share * x


def model_fn(features, labels, mode):
    net = dice(tf.layers.dense(features["x"], 8), "first")
    net = dice(tf.layers.dense(net, 4), "second")
    output = tf.layers.dense(net, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"output": output})
    error = tf.losses.mean_squared_error(labels, output)
    loss = tf.identity(error, name="squared")
    train_op = tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def train(input_fn):
    tf.estimator.Estimator(model_fn).train(input_fn, hooks=[Stops("squared:0")])
