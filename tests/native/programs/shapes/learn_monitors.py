# A monitor that is a hook, and ways to predict arrays.
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.contrib import layers, learn

X = np.linspace(-1., 1., 60).reshape(20, 3).astype(np.float32)
Y = (X ** 2).sum(1)[:, None]
seen = []


class Steps(tf.train.SessionRunHook):
    def before_run(self, context):
        return tf.train.SessionRunArgs('loss:0')

    def after_run(self, context, values):
        seen.append(float(values.results))


def model(x, y):
    net = layers.fully_connected(
        x, 4, tf.nn.tanh, weights_initializer=tf.constant_initializer(.3))
    net = layers.fully_connected(
        net, 1, None, weights_initializer=tf.constant_initializer(.2))[:, 0]
    loss = tf.reduce_mean(tf.square(net - y), name='loss')
    train_op = layers.optimize_loss(
        loss, tf.contrib.framework.get_global_step(), optimizer='SGD', learning_rate=.3)
    return {'sum': net}, loss, train_op


estimator = learn.Estimator(
    model, config=learn.RunConfig(save_checkpoints_steps=3),
    model_dir=tempfile.mkdtemp())
estimator.fit(X, Y, batch_size=8, steps=40, monitors=[Steps()])
first = estimator.evaluate(X, Y, batch_size=6)
everything = np.stack([one['sum'] for one in estimator.predict(X, batch_size=3)])
second = estimator.evaluate(X, Y, steps=1)
some = estimator.predict(X[:5], as_iterable=False)
RESULT = dict(
    first, total=everything.sum(), last=seen[-1], seen=len(seen), second=second['loss'], some=some['sum'].sum())
