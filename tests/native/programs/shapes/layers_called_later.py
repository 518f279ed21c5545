"""Layers of Keras to be called later, and a hook that counts what they hold."""
import tempfile

import numpy as np
import tensorflow as tf


class Counts(tf.train.SessionRunHook):
    def begin(self):
        self.sizes = [int(np.prod(v.shape)) for v in tf.trainable_variables()]

    def before_run(self, run_context):
        self.outputs = run_context.session.graph.get_tensor_by_name('outputs:0')
        return tf.train.SessionRunArgs([self.outputs])

    def after_run(self, run_context, run_values):
        self.last = run_values.results[0]


def model_fn(features, labels, mode):
    hidden = tf.keras.layers.Dense(3, 'tanh', kernel_initializer=ramp)
    last = tf.keras.layers.Dense(1, kernel_initializer=ramp)
    outputs = last(hidden(features))
    outputs = tf.identity(outputs, name='outputs')
    loss = tf.losses.mean_squared_error(labels, outputs)
    train_op = tf.train.GradientDescentOptimizer(.05).minimize(
        loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


X = np.sin(np.arange(48.)).reshape(12, 4).astype(np.float32)
Y = X.sum(1, keepdims=True)


def input_fn():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(4).repeat(3)


counts = Counts()
estimator = tf.estimator.Estimator(model_fn, tempfile.mkdtemp())
estimator.train(input_fn, hooks=[counts])
RESULT = estimator.evaluate(input_fn)
RESULT['counted'] = sum(counts.sizes) + np.sum(counts.last)
