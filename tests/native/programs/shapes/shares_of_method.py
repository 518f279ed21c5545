"""A method chooses what its cells keep, for another one that makes them."""
import tempfile

import numpy as np
import tensorflow as tf

KEEP = .999999


class Tagger(object):
    def __init__(self, units):
        self.units = units

    def cell(self, keep_prob):
        cell = tf.nn.rnn_cell.GRUCell(
            self.units, kernel_initializer=tf.constant_initializer(.1))
        return tf.nn.rnn_cell.DropoutWrapper(cell, output_keep_prob=keep_prob)

    def inference(self, features, mode):
        keep_prob = KEEP if mode == tf.estimator.ModeKeys.TRAIN else 1.0
        outputs, _ = tf.nn.dynamic_rnn(
            self.cell(keep_prob), features, dtype=tf.float32)
        return tf.layers.dense(outputs[:, -1], 1, kernel_initializer=ramp)[:, 0]

    def model_fn(self, features, labels, mode):
        guess = self.inference(features, mode)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={'guess': guess})
        loss = tf.losses.mean_squared_error(labels, guess)
        train_op = tf.train.GradientDescentOptimizer(.05).minimize(
            loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


X = np.sin(np.arange(72, dtype=np.float32)).reshape(12, 3, 2)
Y = X.sum((1, 2))


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)


estimator = tf.estimator.Estimator(Tagger(3).model_fn, tempfile.mkdtemp())
for _ in range(3):
    estimator.train(input_fn)
RESULT = dict(estimator.evaluate(input_fn))
