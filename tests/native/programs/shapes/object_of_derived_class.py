# An object whose class derives from others, with properties; it makes the specification.
import tempfile

import numpy as np
import tensorflow as tf

X = np.cos(np.arange(60.)).reshape(20, 3).astype(np.float32)
Y = (X.sum(1) > 0).astype(np.int64)


class First(object):
    def __init__(self, params):
        self.params = params
        self.scale = 2.

    def build(self, x):
        raise NotImplementedError

    @property
    def predictions(self):
        return {'p': tf.nn.softmax(self.logits)}

    def scaled(self, x):
        return x * self.scale


class Second(First):
    def __init__(self, features, labels, mode, params):
        super(Second, self).__init__(params)
        self.features, self.labels, self.mode = features, labels, mode
        self.logits = self.scaled(self.build(features['x']))

    def scaled(self, x):
        return super(Second, self).scaled(x) + 1.

    def loss(self):
        return tf.losses.sparse_softmax_cross_entropy(self.labels, self.logits)


class Network(Second):
    def __init__(self, features, labels, mode, params):
        super().__init__(features, labels, mode, params)
        self.scale = 3.

    def build(self, x):
        net = tf.layers.dense(
            x, self.params['hidden'], tf.nn.relu,
            kernel_initializer=tf.constant_initializer(.1))
        return tf.layers.dense(
            net, 2, kernel_initializer=tf.constant_initializer([[.3, .1]] * 4))

    def spec(self):
        if self.mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(self.mode, self.predictions)
        loss = self.loss() * self.scale
        optimizer = tf.train.GradientDescentOptimizer(self.params['rate'])
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(self.mode, loss=loss, train_op=train_op)


def model_fn(features, labels, mode, params):
    network = Network(features, labels, mode, params)
    return network.spec()


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({'x': X}, Y)).repeat(5).batch(5)


estimator = tf.estimator.Estimator(
    model_fn, tempfile.mkdtemp(), params={'hidden': 4, 'rate': .1})
estimator.train(input_fn)
RESULT = estimator.evaluate(input_fn)
RESULT['p'] = sum(one['p'][0] for one in estimator.predict(input_fn))
