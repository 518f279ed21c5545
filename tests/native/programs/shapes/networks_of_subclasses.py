"""A class with a model function, whose networks other classes say."""
import tempfile

import numpy as np
import tensorflow as tf


def ramp(shape, dtype=tf.float32, partition_info=None):
    count = int(np.prod(shape))
    return tf.constant(np.cos(np.arange(count)).reshape([int(n) for n in shape]), dtype)


class Base(object):
    """All but the network."""

    def __init__(self, config):
        self.config = config
        self.estimator = tf.estimator.Estimator(
            self.model_fn, tempfile.mkdtemp(), params=config)

    def network(self, rows, is_training):
        raise NotImplementedError

    def looked_up(self, ids):
        table = tf.get_variable(
            'rows', [self.config['ids'], 3], initializer=ramp)
        return tf.nn.embedding_lookup(table, ids)

    def rate(self):
        step = tf.train.get_global_step()
        return tf.train.exponential_decay(self.config['rate'], step, 2, .5)

    def model_fn(self, features, labels, mode, params):
        is_training = mode == tf.estimator.ModeKeys.TRAIN
        net = self.network(self.looked_up(features['ids']), is_training)
        logits = tf.layers.dense(net, 2, kernel_initializer=ramp)
        predicted = tf.argmax(logits, 1)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={'class': predicted})
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        train_op = tf.train.GradientDescentOptimizer(self.rate()).minimize(
            loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, train_op=train_op,
            eval_metric_ops={'accuracy': tf.metrics.accuracy(labels, predicted)})


class Wide(Base):
    """One layer."""

    def network(self, rows, is_training):
        return tf.layers.dense(rows, 4, tf.tanh, kernel_initializer=ramp)


class Deep(Base):
    """Layers of other sizes."""

    def layer(self, rows, width):
        return tf.layers.dense(rows, width, tf.nn.relu, kernel_initializer=ramp)

    def network(self, rows, is_training):
        for width in self.config['widths']:
            rows = self.layer(rows, width)
        return tf.layers.dropout(rows, 0., training=is_training)


KINDS = {'wide': Wide, 'deep': Deep}
IDS = np.arange(12, dtype=np.int32) % 5
Y = (IDS % 2).astype(np.int32)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({'ids': IDS}, Y)).batch(4)


RESULT = {}
for kind in sorted(KINDS):
    model = KINDS[kind]({'ids': 5, 'widths': [4, 3], 'rate': .1})
    for _ in range(2):
        model.estimator.train(input_fn, steps=3)
    for key, value in model.estimator.evaluate(input_fn).items():
        RESULT['%s %s' % (kind, key)] = value
    classes = [one['class'] for one in model.estimator.predict(input_fn)]
    RESULT[kind + ' ones'] = sum(classes)
