"""Names of variables and tensors that whoever calls gives."""

import tempfile

import numpy as np
import tensorflow as tf

X = np.linspace(-1.0, 2.0, 24).reshape(12, 2).astype(np.float32)
RAMP = tf.constant_initializer(0.2)


class Stops(tf.train.SessionRunHook):
    def __init__(self, tensor_name="squared:0"):
        self._tensor_name = tensor_name

    def before_run(self, run_context):
        graph = run_context.session.graph
        return tf.train.SessionRunArgs(graph.get_tensor_by_name(self._tensor_name))

    def after_run(self, run_context, run_values):
        if run_values.results < 0.1:
            run_context.request_stop()


def dice(x, name):
    alphas = tf.get_variable(
        "alpha_" + name, x.get_shape()[-1], initializer=tf.zeros_initializer()
    )
    share = tf.sigmoid(tf.layers.batch_normalization(x, scale=False, name=name))
    return alphas * (1.0 - share) * x + share * x


def squared(labels, output):
    return tf.reduce_mean(tf.square(labels - output), name="squared")


def model_fn(features, labels, mode):
    net = dice(tf.layers.dense(features["x"], 8, kernel_initializer=RAMP), "first")
    net = dice(tf.layers.dense(net, 4, kernel_initializer=RAMP), "second")
    output = tf.layers.dense(net, 1, kernel_initializer=RAMP)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"output": output})
    loss = squared(labels, output)
    train_op = tf.train.GradientDescentOptimizer(0.02).minimize(
        loss, tf.train.get_global_step()
    )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    y = X.sum(1, keepdims=True)
    return tf.data.Dataset.from_tensor_slices(({"x": X}, y)).repeat().batch(4)


estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp())
estimator.train(data, hooks=[Stops()], steps=40)
found = [float(one["output"][0]) for one in estimator.predict(lambda: data().take(3))]
RESULT = dict(total=sum(found), steps=estimator.get_variable_value("global_step"))
