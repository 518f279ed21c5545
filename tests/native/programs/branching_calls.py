"""Estimators made in a loop under the main guard; data that only a block knows."""

import json

import numpy as np
import tensorflow as tf

RATES = [0.1, 0.5]


class Rows:
    """An input function that is an object."""

    def __init__(self, seed, training):
        self.seed = seed
        self.training = training

    def __call__(self, params):
        draw = np.random.RandomState(self.seed)
        x = draw.uniform(-1, 1, size=(40, 3)).astype("float32")
        y = (x[:, 0] > x[:, 1]).astype("int32")
        dataset = tf.data.Dataset.from_tensor_slices((x, y))
        if self.training:
            dataset = dataset.repeat()
        return dataset.batch(params["batch_size"])


def model_fn_builder(units):
    def model_fn(features, labels, mode, params):
        logits = tf.layers.dense(
            features, units, kernel_initializer=tf.constant_initializer(0.2)
        )
        net = tf.layers.batch_normalization(
            logits, training=mode == tf.estimator.ModeKeys.TRAIN
        )
        loss = tf.losses.sparse_softmax_cross_entropy(labels, net)
        if mode == tf.estimator.ModeKeys.EVAL:
            accuracy = tf.metrics.accuracy(labels, tf.argmax(net, 1))
            return tf.estimator.EstimatorSpec(
                mode, loss=loss, eval_metric_ops={"accuracy": accuracy}
            )
        optimizer = tf.train.GradientDescentOptimizer(params["rate"])
        if params["use_bn"]:
            with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
                train_op = optimizer.minimize(loss, tf.train.get_global_step())
        else:
            train_op = optimizer.minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


if __name__ == "__main__":
    for rate in RATES:
        model_fn = model_fn_builder(2)
        params = {"rate": rate, "batch_size": 8, "use_bn": True}
        estimator = tf.estimator.Estimator(model_fn, params=params)
        if rate > 0:
            train_rows = Rows(1, training=True)
            estimator.train(train_rows, steps=12)
        results = estimator.evaluate(Rows(2, training=False))
        print(json.dumps({key: float(results[key]) for key in sorted(results)}))
