# An object whose constructor builds the graph; what it finds are its attributes.
import tempfile

import numpy as np
import tensorflow as tf

X = np.cos(np.arange(60.)).reshape(20, 3).astype(np.float32)
Y = (X.sum(1) > 0).astype(np.int64)


class Network(object):
    """Builds all that a specification asks for."""

    def __init__(self, features, labels, mode, params, rate=.1):
        self.mode = mode
        self.params = params
        self.labels = labels
        self.loss, self.train_op = None, None
        self.logits = self._logits(features['x'], params['hidden'])
        self._predict()
        if mode != tf.estimator.ModeKeys.PREDICT:
            self._train(rate)

    def _dense(self, net, units, activation=None):
        return tf.layers.dense(
            net, units, activation, kernel_initializer=tf.constant_initializer(.1))

    def _logits(self, x, hidden):
        with tf.variable_scope('network'):
            for number in range(hidden):
                x = self._dense(x + number, 4, tf.nn.tanh)
            net = tf.layers.dropout(
                x, 0., training=self.mode == tf.estimator.ModeKeys.TRAIN)
            return self._dense(net, 2)

    def _predict(self):
        self.classes = tf.argmax(self.logits, axis=1)
        self.predictions = {'class': self.classes, 'logits': self.logits}

    def _train(self, rate):
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=self.labels, logits=self.logits)
        self.loss = tf.reduce_mean(losses)
        optimizer = tf.train.GradientDescentOptimizer(rate)
        self.train_op = optimizer.minimize(
            self.loss, global_step=tf.train.get_global_step())

    def accuracy(self):
        return tf.metrics.accuracy(self.labels, self.classes)


def model_fn(features, labels, mode, params):
    network = Network(features, labels, mode, params)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, network.predictions)
    accuracy = network.accuracy()
    return tf.estimator.EstimatorSpec(
        mode, network.predictions, network.loss, network.train_op,
        eval_metric_ops={'accuracy': accuracy})


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({'x': X}, Y)).repeat(5).batch(5)


estimator = tf.estimator.Estimator(
    model_fn, tempfile.mkdtemp(), params={'hidden': 2})
estimator.train(input_fn)
RESULT = estimator.evaluate(input_fn)
RESULT['logits'] = sum(abs(one['logits']).sum() for one in estimator.predict(input_fn))
