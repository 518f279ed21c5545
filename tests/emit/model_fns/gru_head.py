"""A GRU over sequences of several lengths, and a head that adds up its losses."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


def model_fn(features, labels, mode, params):
    head = tf.contrib.estimator.regression_head(
        weight_column="weight",
        label_dimension=2,
        loss_reduction=tf.losses.Reduction.SUM,
        name="both",
    )
    cell = tf.nn.rnn_cell.GRUCell(params["units"])
    outputs, state = tf.nn.dynamic_rnn(
        cell, features["x"], sequence_length=features["length"], dtype=tf.float32
    )
    net = tf.concat([state, tf.reduce_sum(outputs, axis=1)], axis=1)
    logits = tf.layers.dense(net, head.logits_dimension)

    def train_op_fn(loss):
        optimizer = tf.train.GradientDescentOptimizer(0.01)
        return optimizer.minimize(loss, global_step=tf.train.get_global_step())

    return head.create_estimator_spec(
        features, mode, logits, labels=labels, train_op_fn=train_op_fn
    )


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    features = {
        "x": draw.normal(size=(count, 5, 3)).astype(np.float32),
        "length": draw.randint(1, 6, size=count),
        "weight": draw.uniform(0.5, 2, size=count).astype(np.float32),
    }
    y = draw.normal(size=(count, 2)).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((features, y)).repeat(6).batch(20)


estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=MODEL_DIR,
    config=tf.estimator.RunConfig(log_step_count_steps=1, tf_random_seed=5),
    params={"units": 4},
)
estimator.train(data, steps=8)
RESULT = estimator.evaluate(lambda: data(50, seed=1))
