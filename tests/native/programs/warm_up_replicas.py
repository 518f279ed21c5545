"""A learning rate computed in the model_fn from the step, on two replicas."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


def model_fn(features, labels, mode, params):
    net = tf.layers.dense(features["x"], 8, activation=tf.nn.relu)
    logits = tf.layers.dense(net, 1)
    loss = tf.losses.mean_squared_error(labels, tf.squeeze(logits, 1))
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        step = tf.to_float(tf.train.get_global_step())
        decayed = params["rate"] * tf.pow(0.9, step / params["steps"])
        slow = 0.3 * tf.train.exponential_decay(
            params["rate"], tf.train.get_global_step(), 5, 0.8, staircase=True
        )
        # Grows for some steps, and falls from then on.
        rate = tf.where(step < 12.0, decayed, slow) * tf.minimum(1.0, step / 4.0)
        optimizer = tf.train.GradientDescentOptimizer(rate)
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 6)).astype(np.float32)
    y = x.sum(axis=1)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).repeat(20).batch(20)


strategy = tf.distribute.MirroredStrategy(
    ["/cpu:0", "/cpu:1"], cross_device_ops=tf.distribute.ReductionToOneDevice()
)
estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=MODEL_DIR,
    config=tf.estimator.RunConfig(
        log_step_count_steps=1, tf_random_seed=5, train_distribute=strategy
    ),
    params={"rate": 0.05, "steps": 3.0},
)
estimator.train(data, steps=24)
RESULT = estimator.evaluate(lambda: data(50, seed=1))
