"""Two towers that share weights; unnamed layers made in a loop."""

import os

import numpy as np
import tensorflow as tf

GPUS = int(os.environ.get("GPUS", 2))


def tower(inputs, mode, params):
    net = inputs
    for units in params["units"]:
        net = tf.layers.dense(net, units, activation=tf.nn.relu)
        net = tf.layers.batch_normalization(
            net, training=mode == tf.estimator.ModeKeys.TRAIN
        )
    net = tf.layers.dropout(
        net, params["dropout"], training=mode == tf.estimator.ModeKeys.TRAIN
    )
    scale = tf.get_variable("scale", [], initializer=tf.ones_initializer())
    return scale * net


def pair_model_fn(features, labels, mode, params):
    """Scores pairs of examples."""
    # Both sides of a pair go through the same tower.
    with tf.variable_scope("tower"):
        left = tower(features["left"], mode, params)
    with tf.variable_scope("tower", reuse=True):
        right = tower(features["right"], mode, params)
    with tf.variable_scope("score", initializer=tf.glorot_normal_initializer()):
        kernel = tf.get_variable("kernel", [4, 4])
        bias = tf.get_variable("bias", [1], initializer=tf.zeros_initializer())
        score = tf.reduce_sum(tf.matmul(left, kernel) * right, axis=1) + bias

    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"score": score})
    loss = tf.losses.mean_squared_error(labels, score)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"mae": tf.metrics.mean_absolute_error(labels, score)}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    optimizer = tf.train.MomentumOptimizer(params["rate"], 0.9)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def pairs(seed):
    draw = np.random.RandomState(seed)
    left = draw.normal(size=(240, 5)).astype("float32")
    right = draw.normal(size=(240, 5)).astype("float32")
    labels = (left * right).sum(axis=1).astype("float32")
    data = tf.data.Dataset.from_tensor_slices(({"left": left, "right": right}, labels))
    return data.batch(12)


def main():
    strategy = tf.contrib.distribute.MirroredStrategy(num_gpus=GPUS)
    estimator = tf.estimator.Estimator(
        pair_model_fn,
        config=tf.estimator.RunConfig(train_distribute=strategy),
        params={"units": [8, 4], "dropout": 0.0, "rate": 0.01},
    )
    estimator.train(lambda: pairs(1).repeat(), steps=8)
    print(estimator.evaluate(lambda: pairs(2)))


if __name__ == "__main__":
    main()
