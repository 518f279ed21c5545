"""A model in a class that keeps state, made by a builder; helpers in a registry."""

import shutil

import numpy as np
import tensorflow as tf
from held_net import Net, start


def wide(x, options):
    """One of two that the registry holds."""
    return tf.layers.dense(x, 5, name="wide", **options)


def deep(x, options):
    x = tf.layers.dense(x, 3, name="deep", **options)
    return tf.layers.dense(x, 4, name="deeper", kernel_initializer=start)


TOWERS = {"wide": wide, "deep": deep}


def build(rate, tower, units):
    tower_of = TOWERS[tower]

    def model_fn(features, labels, mode, params):
        is_training = mode == tf.estimator.ModeKeys.TRAIN

        def head(x, size=1):
            x = tf.layers.dense(x, units, tf.nn.tanh, kernel_initializer=start)
            return tf.layers.dense(x, size, kernel_initializer=start)

        net = Net(params["sizes"], is_training)
        net.build(features["x"])
        options = {"activation": tf.nn.elu, "kernel_initializer": start}
        with tf.variable_scope("tower"):
            seen = tower_of(net.seen, options)
        out = head(tf.concat([seen, net(features["x"])], 1))
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions={"out": out})
        loss = tf.losses.mean_squared_error(labels, out)
        loss += tf.losses.get_regularization_loss()
        if mode == tf.estimator.ModeKeys.EVAL:
            return tf.estimator.EstimatorSpec(mode, loss=loss)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train_op = tf.train.AdamOptimizer(rate).minimize(
                loss, tf.train.get_global_step()
            )
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


def data():
    draw = np.random.RandomState(3)
    x = draw.normal(size=(32, 4)).astype("float32")
    y = x[:, :1] - 2.0 * x[:, 1:2]
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).batch(8)


def forever():
    return data().repeat()


estimator = tf.estimator.Estimator(
    build(0.02, "deep", 3),
    model_dir=DIRECTORY,
    config=tf.estimator.RunConfig(train_distribute=STRATEGY, tf_random_seed=1),
    params={"sizes": [3, 2]},
)
estimator.train(forever, max_steps=STEPS)
RESULT = dict(estimator.evaluate(data))
for name in estimator.get_variable_names():
    RESULT[name] = np.sum(np.abs(estimator.get_variable_value(name)))
