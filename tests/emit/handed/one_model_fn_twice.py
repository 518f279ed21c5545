"""The same model_fn, once with a small rate and once with a large one."""

import os

import numpy as np
import tensorflow as tf

BASE = os.environ["MODEL_DIR"]


def network(features, units):
    """Two layers."""
    net = tf.layers.dense(features, units, activation=tf.nn.tanh)
    return tf.layers.dense(net, 1)


def model_fn(features, labels, mode, params):
    output = network(features, params["units"])
    loss = tf.losses.mean_squared_error(labels, output)
    optimizer = tf.train.GradientDescentOptimizer(params["rate"])
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    rng = np.random.RandomState(4)
    x = rng.rand(32, 3).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, x[:, :1] - x[:, 1:2])).batch(8)


run_config = tf.estimator.RunConfig(log_step_count_steps=1)
slow = tf.estimator.Estimator(
    model_fn,
    model_dir=BASE + "/slow",
    config=run_config,
    params={"units": 6, "rate": 0.01},
)
fast = tf.estimator.Estimator(
    model_fn,
    model_dir=BASE + "/fast",
    config=run_config,
    params={"units": 4, "rate": 0.2},
)
slow.train(data)
fast.train(data)
RESULT = {
    "slow": slow.evaluate(data)["loss"],
    "fast": fast.evaluate(data)["loss"],
}
