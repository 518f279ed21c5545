"""A compiled Keras model with two outputs, and a hook that asks for the step."""
import tempfile

import numpy as np
import tensorflow as tf


class Counts(tf.train.SessionRunHook):
    def after_create_session(self, session, coord):
        self.first = session.run(tf.train.get_global_step())
        self.calls = 0

    def after_run(self, run_context, run_values):
        self.calls += 1

    def end(self, session):
        step = session.run(tf.train.get_or_create_global_step())
        RESULT['calls'] = [int(self.first), self.calls, int(step)]


X = np.sin(np.arange(36, dtype=np.float32)).reshape(12, 3)
Y = {'total': X.sum(1, keepdims=True), 'sign': (X[:, :1] > 0).astype(np.float32)}


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({'x': X}, Y)).batch(6)


RESULT = {}
x = tf.keras.Input((3,), name='x')
net = tf.keras.layers.Dense(4, activation='tanh')(x)
total = tf.keras.layers.Dense(1, name='total')(net)
sign = tf.keras.layers.Dense(1, activation='sigmoid', name='sign')(net)
model = tf.keras.Model(x, [total, sign])
model.set_weights([np.cos(np.arange(w.size)).reshape(w.shape) for w in model.get_weights()])
model.compile(
    tf.keras.optimizers.SGD(.05), loss={'total': 'mse', 'sign': 'binary_crossentropy'},
    loss_weights={'total': .5}, metrics={'sign': ['acc'], 'total': 'mae'})
estimator = tf.keras.estimator.model_to_estimator(model, model_dir=tempfile.mkdtemp())
estimator.train(input_fn)
estimator.train(input_fn, hooks=[Counts()])
found = estimator.evaluate(input_fn)
print('%.3f %.3f' % (found['sign_acc'], found['total_mean_absolute_error']))
RESULT.update(found, calls=sum(RESULT['calls']))
