# A model function that is a method, and leaves what it finds with its object.
import tempfile

import numpy as np
import tensorflow as tf

X = np.cos(np.arange(60.)).reshape(20, 3).astype(np.float32)
Y = (X.sum(1, keepdims=True) > 0).astype(np.float32)


class Model:

    def __init__(self, rate):
        self.rate = rate

    def model_fn(self, mode, features, labels, params):
        self.mode = mode
        self.params = params
        self.loss, self.train_op, self.metrics = None, None, None
        self._placeholders(features, labels)
        self.build()
        return tf.estimator.EstimatorSpec(
            mode=self.mode, loss=self.loss, train_op=self.train_op,
            eval_metric_ops=self.metrics, predictions={'score': self.score})

    def _placeholders(self, features, labels):
        self.inputs = features
        if type(features) == dict:
            self.inputs = features['x']
        self.targets = labels

    def build(self):
        with tf.variable_scope('net'):
            net = tf.layers.dense(
                self.inputs, self.params['units'], tf.nn.tanh,
                kernel_initializer=tf.constant_initializer(.3))
            output = tf.layers.dense(
                net, 1, kernel_initializer=tf.constant_initializer(.1))
        self._build_score(output)
        if self.mode != tf.estimator.ModeKeys.PREDICT:
            self._build_loss(output)
            self._build_optimizer()
            self._build_metrics()

    def _build_score(self, output):
        self.score = tf.sigmoid(output)

    def _build_loss(self, output):
        with tf.variable_scope('loss'):
            error = tf.reduce_mean(tf.square(output - self.targets), name='error')
            self.loss = error + .01 * tf.reduce_mean(tf.abs(output))
        tf.summary.scalar('loss/error', error)

    def _build_optimizer(self):
        self.train_op = tf.contrib.layers.optimize_loss(
            self.loss, tf.train.get_global_step(), optimizer='Adam',
            learning_rate=self.rate, summaries=['learning_rate'], name='train_op')

    def _build_metrics(self):
        self.metrics = {'mean': tf.metrics.mean(self.score)}


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({'x': X}, Y)).repeat(5).batch(5)


model = Model(.05)
estimator = tf.estimator.Estimator(
    model.model_fn, tempfile.mkdtemp(), params={'units': 4})
estimator.train(input_fn)
RESULT = estimator.evaluate(input_fn)
RESULT['score'] = sum(one['score'].sum() for one in estimator.predict(input_fn))
