"""Two optimizers, each for the variables of a scope, and one loss."""

import numpy as np
import tensorflow as tf

PARAMS = {"rate": 0.01}


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    w = draw.normal(size=(count, 5)).astype(np.float32)
    d = draw.normal(size=(count, 3)).astype(np.float32)
    y = (w.sum(1, keepdims=True) + d.prod(1, keepdims=True) > 0).astype(np.float32)
    features = {"w": w, "d": d}
    return tf.data.Dataset.from_tensor_slices((features, y)).repeat(6).batch(20)


def model_fn(features, labels, mode, params):
    with tf.variable_scope("wide"):
        wide = tf.layers.dense(features["w"], 1)
    with tf.variable_scope("deep"):
        net = tf.layers.dense(features["d"], 8, tf.nn.relu)
        net = tf.layers.dense(net, 4, tf.nn.relu)
        deep = tf.layers.dense(net, 1)
    logits = wide + deep
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"p": tf.sigmoid(logits)})
    loss = tf.losses.sigmoid_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    train_ops = []
    global_step = tf.train.get_global_step()
    train_ops.append(tf.train.AdamOptimizer(params["rate"]).minimize(
        loss, global_step=global_step,
        var_list=tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="deep")))
    train_ops.append(tf.train.FtrlOptimizer(0.1).minimize(
        loss, var_list=tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES, scope="wide")))
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.group(*train_ops))
