# A monitor that ends training by a metric of its own, and all ways to predict arrays.
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.contrib import layers, learn

X = np.linspace(-1., 1., 60).reshape(20, 3).astype(np.float32)
Y = (X ** 2).sum(1)[:, None]
seen = []


def rmse(predictions, targets):
    return tf.metrics.root_mean_squared_error(targets, predictions)


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


eval_metrics = {
    'rmse': learn.MetricSpec(metric_fn=rmse),
    'mae': learn.MetricSpec(
        tf.contrib.metrics.streaming_mean_absolute_error, prediction_key='sum'),
    'mse': learn.MetricSpec(
        lambda predictions, labels: tf.metrics.mean_squared_error(labels, predictions)),
}
estimator = learn.Estimator(
    model, config=learn.RunConfig(save_checkpoints_steps=3),
    model_dir=tempfile.mkdtemp())
monitor = learn.monitors.ValidationMonitor(
    X[:7], Y[:7], every_n_steps=4, early_stopping_rounds=8, metrics=eval_metrics,
    early_stopping_metric='rmse', early_stopping_metric_minimize=False,
    check_interval_secs=None)
estimator.fit(X, Y, batch_size=8, steps=40, monitors=[Steps(), monitor])
estimator.partial_fit(X, Y)
first = estimator.evaluate(X, Y, batch_size=6, metrics=eval_metrics)
everything = np.stack([one['sum'] for one in estimator.predict(X, batch_size=3)])
second = estimator.evaluate(X, Y, steps=1)
some = estimator.predict(X[:5], as_iterable=False)
RESULT = dict(
    first, total=everything.sum(), stopped=monitor.best_step, best=monitor.best_value,
    last=seen[-1], seen=len(seen), second=second['loss'], some=some['sum'].sum())
