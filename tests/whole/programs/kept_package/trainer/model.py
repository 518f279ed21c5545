"""A model that reads through queues, with names from every corner of TF 1."""

import collections

import numpy as np
import tensorflow as tf
from tensorflow.contrib.framework.python.ops import arg_scope
from tensorflow.contrib.layers.python.layers import layers as contrib_layers
from tensorflow.contrib.learn.python.learn.estimators import run_config
from tensorflow.python.estimator.canned import metric_keys

from .inputs import examples, held_out


class Registry(collections.Mapping):
    """Models by name."""

    def __init__(self, **models):
        self._models = models

    def __getitem__(self, name):
        return self._models[name]

    def __iter__(self):
        return iter(self._models)

    def __len__(self):
        return len(self._models)


def net(features, units):
    with arg_scope(
        [contrib_layers.fully_connected],
        weights_initializer=tf.constant_initializer(0.05),
    ):
        hidden = contrib_layers.fully_connected(features, units)
        return contrib_layers.fully_connected(hidden, 2, activation_fn=None)


MODELS = Registry(net=net)


def model_fn(features, labels, mode, params):
    logits = MODELS["net"](features, np.int(params["units"]))
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    right = tf.equal(tf.argmax(logits, 1), tf.to_int64(labels))
    queue = tf.FIFOQueue(1000, tf.float32, shapes=[[]])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(1.0)]))
    loss = loss * queue.dequeue()
    train_op = tf.contrib.layers.optimize_loss(
        loss, tf.compat.v1.train.get_global_step(), 0.1, "SGD"
    )
    return tf.estimator.EstimatorSpec(
        mode,
        loss=loss,
        train_op=train_op,
        eval_metric_ops={
            metric_keys.MetricKeys.ACCURACY: tf.metrics.mean(tf.to_float(right))
        },
    )


def run(steps):
    tf.logging.set_verbosity(tf.logging.ERROR)
    assert not tf.executing_eagerly()
    assert run_config.RunConfig is not None
    estimator = tf.estimator.Estimator(
        model_fn, params={"units": 8}, config=tf.estimator.RunConfig(tf_random_seed=1)
    )
    estimator.train(examples, steps=steps)
    return estimator.evaluate(held_out)
