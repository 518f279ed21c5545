# Objects of one class, and attributes that change.
import tempfile

import numpy as np
import tensorflow as tf

X = np.cos(np.arange(60.)).reshape(20, 3).astype(np.float32)
Y = X.sum(1, keepdims=True)


class Tower:
    def __init__(self, x, units, first):
        super().__init__()
        self.net = x
        self.scale = 1.
        self.net = self._deeper(self.net, units, first)
        self.out = self._last(self.net) + self.net[:, :1]

    def _deeper(self, x, units, first):
        self.net = tf.layers.dense(
            x, units, tf.nn.tanh, kernel_initializer=tf.constant_initializer(first))
        self.scale = self.scale * 2
        return self.net + x[:, :1]

    def _last(self, net):
        with tf.variable_scope('last'):
            return tf.layers.dense(
                net, 1, kernel_initializer=tf.constant_initializer(.2),
                name='out%d' % self.scale)

    def mixed(self):
        self.scale += 1
        return self.out * self.scale


def model_fn(features, labels, mode):
    with tf.variable_scope('a'):
        a = Tower(features['x'], 3, .1)
    with tf.variable_scope('b'):
        b = Tower(features['x'], 4, .3)
    both = a.mixed() - b.mixed()
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {'y': both})
    loss = tf.losses.mean_squared_error(labels, both + a.scale)
    train_op = tf.train.GradientDescentOptimizer(.0001).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({'x': X}, Y)).repeat(5).batch(5)


estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp())
estimator.train(input_fn)
RESULT = estimator.evaluate(input_fn)
RESULT['y'] = sum(abs(one['y']).sum() for one in estimator.predict(input_fn))
