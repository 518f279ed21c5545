"""An object holds the Estimator; model_fn, blocks and loss are its methods."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


class WordNet(object):
    """Averaged words, and a small tower on top."""

    WIDTH = 8

    def __init__(self, words, units, rate=0.1):
        self.words = words
        self._units = units
        self.rate = rate
        self.est = tf.estimator.Estimator(
            model_fn=self.network,
            model_dir=MODEL_DIR,
            config=tf.estimator.RunConfig(log_step_count_steps=1, tf_random_seed=5),
        )

    # ---------------------------------------------------------------- the model

    def block(self, net, units):
        return tf.layers.dense(net, units * self.WIDTH, activation=tf.nn.tanh)

    @staticmethod
    def loss(labels, logits):
        return tf.losses.sparse_softmax_cross_entropy(labels, logits)

    def network(self, features, labels, mode):
        table = tf.get_variable("table", [self.words, self.WIDTH])
        net = tf.reduce_mean(tf.nn.embedding_lookup(table, features["words"]), 1)
        net = self.block(net, self._units)
        logits = tf.layers.dense(net, 3)
        classes = tf.argmax(logits, 1)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"class": classes})
        loss = self.loss(labels, logits)
        if mode == tf.estimator.ModeKeys.EVAL:
            accuracy = tf.metrics.accuracy(labels, classes)
            return tf.estimator.EstimatorSpec(
                mode, loss=loss, eval_metric_ops={"accuracy": accuracy})
        optimizer = tf.train.GradientDescentOptimizer(self.rate)
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    # ------------------------------------------------------------------- its use

    def fit(self, input_fn, steps):
        self.est.train(input_fn, steps=steps)
        return self

    def score(self, input_fn):
        return self.est.evaluate(input_fn)


def data(count=60, seed=0):
    words = np.random.RandomState(seed).randint(50, size=(count, 5))
    pairs = ({"words": words}, words[:, 0] % 3)
    return tf.data.Dataset.from_tensor_slices(pairs).repeat(6).batch(20)


RESULT = WordNet(50, 2).fit(data, 8).score(lambda: data(50, seed=1))
