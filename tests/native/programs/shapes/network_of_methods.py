"""A network whose methods make layers, which a model function of a factory makes."""
import tempfile

import numpy as np
import tensorflow as tf


class Network(object):
    """Rows of a table and numbers, through layers."""

    def __init__(self, config, classes=2):
        self.config = config
        self.classes = classes
        self.start = ramp

    def looked_up(self, ids, rows=5):
        with tf.variable_scope('table'):
            table = tf.get_variable('rows', [rows, 3], initializer=self.start)
        return tf.nn.embedding_lookup(table, ids)

    def layer(self, x, width, activation=None):
        return tf.layers.dense(x, width, activation, kernel_initializer=self.start)

    def block(self, x, width):
        x = self.layer(x, width, activation=tf.tanh)
        return x * self.config['scale']

    def __call__(self, features, is_training):
        x = tf.concat([features['numbers'], self.looked_up(features['ids'])], 1)
        for width in self.config['widths']:
            x = self.block(x, width)
        x = tf.layers.dropout(x, 0., training=is_training)
        return self.layer(x, self.classes)


def make_model_fn(config):
    """A model function of a configuration."""
    def model_fn(features, labels, mode):
        """Of two classes."""
        network = Network(config)
        logits = network(features, mode == tf.estimator.ModeKeys.TRAIN)
        predicted = tf.argmax(logits, 1)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={'class': predicted})
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        train_op = tf.train.AdamOptimizer(config['rate']).minimize(
            loss, tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, train_op=train_op,
            eval_metric_ops={'accuracy': tf.metrics.accuracy(labels, predicted)})

    return model_fn


X = np.linspace(-1., 1., 24).reshape(12, 2).astype(np.float32)
IDS = np.arange(12, dtype=np.int32) % 5
Y = (X.sum(1) + IDS % 2 > .5).astype(np.int32)


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({'numbers': X, 'ids': IDS}, Y)).batch(4)


estimator = tf.estimator.Estimator(
    make_model_fn({'widths': [4, 3], 'scale': .5, 'rate': .05}), tempfile.mkdtemp())
for _ in range(3):
    # An end of the data would decay the moments of the table once more.
    estimator.train(input_fn, steps=3)
RESULT = estimator.evaluate(input_fn)
RESULT['ones'] = sum(one['class'] for one in estimator.predict(input_fn))
