"""Batch normalization of Keras, whose averages UPDATE_OPS has no part in."""
import tempfile

import numpy as np
import tensorflow as tf


class Net(tf.keras.Model):
    def __init__(self):
        super(Net, self).__init__()
        self.hidden = tf.keras.layers.Dense(4, kernel_initializer=ramp)
        self.norm = tf.keras.layers.BatchNormalization(momentum=.5)
        self.out = tf.keras.layers.Dense(1, kernel_initializer=ramp)

    def call(self, inputs, training=None):
        return self.out(tf.nn.relu(self.norm(self.hidden(inputs), training=training)))


def alone(inputs, is_training):
    net = tf.keras.layers.Dense(4, kernel_initializer=ramp)(inputs)
    net = tf.keras.layers.BatchNormalization()(net, training=is_training)
    return tf.keras.layers.Dense(1, kernel_initializer=ramp)(tf.nn.relu(net))


def spec(outputs, labels, mode, updates):
    loss = tf.losses.mean_squared_error(labels, outputs)
    with tf.control_dependencies(updates):
        train_op = tf.train.GradientDescentOptimizer(.05).minimize(
            loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def class_fn(features, labels, mode):
    outputs = Net()(features, training=mode == tf.estimator.ModeKeys.TRAIN)
    return spec(outputs, labels, mode, tf.get_collection(tf.GraphKeys.UPDATE_OPS))


def alone_fn(features, labels, mode):
    outputs = alone(features, mode == tf.estimator.ModeKeys.TRAIN)
    return spec(outputs, labels, mode, tf.get_collection(tf.GraphKeys.UPDATE_OPS))


X = np.sin(np.arange(48.)).reshape(12, 4).astype(np.float32)
Y = X.sum(1, keepdims=True)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(4).repeat(3)


RESULT = {}
for name, model_fn in (('class', class_fn), ('alone', alone_fn)):
    estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp())
    estimator.train(input_fn)
    RESULT[name] = estimator.evaluate(input_fn, steps=3)['loss']
