"""An object with scikit-learn's interface makes its Estimator when it is fitted."""

import os

import numpy as np
import tensorflow as tf


class MLPRegressor(object):
    """fit / predict / score."""

    def __init__(self, hidden=(16,), learning_rate=0.05, batch_size=16, model_dir=None):
        self.hidden = hidden
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.model_dir = model_dir
        self._estimator = None

    def _model_fn(self, features, labels, mode):
        net = features["x"]
        for units in self.hidden:
            net = tf.layers.dense(net, units, activation=tf.nn.tanh)
        output = tf.squeeze(tf.layers.dense(net, 1), axis=1)
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"y": output})
        loss = tf.losses.mean_squared_error(labels, output)
        optimizer = tf.train.GradientDescentOptimizer(self.learning_rate)
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
        metrics = {"mae": tf.metrics.mean_absolute_error(labels, output)}
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, train_op=train_op, eval_metric_ops=metrics
        )

    def _make_estimator(self):
        config = tf.estimator.RunConfig(tf_random_seed=4, log_step_count_steps=1)
        return tf.estimator.Estimator(
            model_fn=self._model_fn, model_dir=self.model_dir, config=config
        )

    def fit(self, X, y):
        input_fn = tf.estimator.inputs.numpy_input_fn(
            {"x": X}, y, batch_size=self.batch_size, num_epochs=2, shuffle=False
        )
        self._estimator = self._make_estimator()
        self._estimator.train(input_fn)
        return self

    def predict(self, X):
        if self._estimator is None:
            raise ValueError("call fit first")
        input_fn = tf.estimator.inputs.numpy_input_fn({"x": X}, shuffle=False)
        return np.array([p["y"] for p in self._estimator.predict(input_fn)])

    def score(self, X, y):
        input_fn = tf.estimator.inputs.numpy_input_fn({"x": X}, y, shuffle=False)
        return self._estimator.evaluate(input_fn)


rng = np.random.RandomState(3)
X = rng.rand(64, 4).astype(np.float32)
y = (X**2).sum(axis=1).astype(np.float32)
model = MLPRegressor(hidden=(16, 8), model_dir=os.environ["MODEL_DIR"])
RESULT = dict(model.fit(X, y).score(X, y))
RESULT["first"] = model.predict(X)[0]
