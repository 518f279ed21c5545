"""A model function that is a method, and keeps what it computes in its object."""

import os

import numpy as np
import tensorflow as tf
from tensorflow.contrib import layers

MODEL_DIR = os.environ["MODEL_DIR"]
PARAMS = {"units": 6, "kind": "tanh", "rate": 0.02}


class Tower(object):
    def __init__(self, training, params, dtype=tf.float32):
        self.training = training
        self.params = params
        self.dtype = dtype

    def build(self, inputs):
        with tf.variable_scope("tower", dtype=self.dtype):
            net = tf.layers.dense(inputs, self.params["units"])
            if self.params["kind"] == "tanh":
                net = tf.nn.tanh(net)
            else:
                raise ValueError("not a kind: %s" % self.kind)
        return self.head(net)

    def head(self, net):
        scale = tf.get_variable("scale", [self.params["units"]], self.dtype)
        net = tf.layers.dropout(net * scale, 0.0, training=self.training)
        return tf.layers.dense(net, 1, name="out")


class Program(object):
    def __init__(self, title):
        self.title = title
        self.loss = "not known yet"

    def model_fn(self, features, labels, mode, params):
        self.mode = mode
        self.params = params
        self.loss, self.train_op, self.metrics = None, None, None
        self._take(features, labels)
        self._build()
        return tf.estimator.EstimatorSpec(
            mode,
            predictions={"value": self.value},
            loss=self.loss,
            train_op=self.train_op,
            eval_metric_ops=self.metrics,
        )

    def _take(self, features, labels):
        self.inputs = features
        if type(features) == dict:
            self.inputs = features["x"]
        self.targets = labels

    def _build(self):
        training = self.mode == tf.estimator.ModeKeys.TRAIN
        self.value = Tower(training, self.params).build(self.inputs)
        if self.mode != tf.estimator.ModeKeys.PREDICT:
            self._build_loss(self.value)
            self._build_update()

    def _build_loss(self, value):
        with tf.variable_scope("loss"):
            self.errors = tf.square(self.targets - value)
            self.loss = tf.reduce_mean(self.errors)
        self.metrics = {"errors": tf.metrics.mean(self.errors)}

    def _build_update(self):
        self.train_op = layers.optimize_loss(
            self.loss,
            tf.train.get_global_step(),
            optimizer="Adam",
            learning_rate=self.params["rate"],
            summaries=["loss"],
        )


def data(count=80, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 5)).astype(np.float32)
    y = x[:, :2].sum(axis=1, keepdims=True).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).batch(10)


owner = Program("sums")
estimator = tf.estimator.Estimator(
    owner.model_fn,
    model_dir=MODEL_DIR,
    config=tf.estimator.RunConfig(log_step_count_steps=1, tf_random_seed=5),
    params=PARAMS,
)
print(owner.title)
estimator.train(data, steps=8)
RESULT = estimator.evaluate(lambda: data(50, seed=1))
