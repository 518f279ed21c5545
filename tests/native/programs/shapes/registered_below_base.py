"""Networks that a decorator registers, one class below its base, a module's head."""
import abc
import tempfile

import numpy as np
import tensorflow as tf

X = np.random.RandomState(0).normal(size=(40, 4)).astype(np.float32)
Y = (X.sum(1, keepdims=True) > 0).astype(np.float32)
NETWORKS = {}
head = tf.contrib.estimator.binary_classification_head()


def register(name=None):
    def put(function):
        NETWORKS[name or function.__name__] = function
        return function
    return put


def network_of(name):
    if name not in NETWORKS:
        raise ValueError('no network %s' % name)
    return NETWORKS[name]


@register()
def wide(x, units, start):
    return tf.layers.dense(x, units, kernel_initializer=start)


@register('deep')
def deep_network(x, units, start):
    x = tf.layers.dense(x, units, tf.nn.relu, kernel_initializer=start)
    return tf.layers.dense(x, units // 2, kernel_initializer=start)


class Classifier(object):
    """What all of them do."""

    __metaclass__ = abc.ABCMeta

    def __init__(self, units, rate=0.1):
        self.units = units
        self.rate = rate

    @abc.abstractmethod
    def hidden(self, x, params):
        """Returns what the last layer reads."""

    def model_fn(self, features, labels, mode, params):
        hidden = self.hidden(features['x'], params)
        logits = tf.layers.dense(hidden, 1, kernel_initializer=params['start'])

        def train_op_fn(loss):
            optimizer = tf.train.AdagradOptimizer(self.rate)
            return optimizer.minimize(loss, tf.train.get_global_step())

        return head.create_estimator_spec(
            features=features, mode=mode, labels=labels, logits=logits,
            train_op_fn=train_op_fn)


class Chosen(Classifier):

    def __init__(self, size):
        super(Chosen, self).__init__(units=2 * size)

    def hidden(self, x, params):
        return network_of(params['network'])(x, self.units, params['start'])


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({'x': X}, Y)).batch(8)


estimator = tf.estimator.Estimator(
    Chosen(4).model_fn, tempfile.mkdtemp(),
    params={'network': 'deep', 'start': tf.constant_initializer(0.1)})
estimator.train(input_fn)
RESULT = estimator.evaluate(input_fn)
