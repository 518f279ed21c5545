"""Layers of Keras among those of tf.layers, one of them called twice."""

import numpy as np
import tensorflow as tf

PARAMS = {"words": 9}


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    features = {
        name: draw.randint(9, size=(count, 5)).astype(np.int32)
        for name in ("first", "second")
    }
    y = draw.randint(3, size=count)
    return tf.data.Dataset.from_tensor_slices((features, y)).repeat(6).batch(20)


def model_fn(features, labels, mode, params):
    table = tf.keras.layers.Embedding(params["words"], 4)
    shared = tf.keras.layers.LSTM(5)
    first = shared(table(features["first"]))
    second = shared(table(features["second"]))
    net = tf.keras.layers.Dropout(0.0)(
        tf.concat([first, second], 1), training=mode == tf.estimator.ModeKeys.TRAIN
    )
    net = tf.layers.dense(net, 6, activation=tf.nn.relu, name="joined")
    logits = tf.layers.dense(net, 3)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    if mode == tf.estimator.ModeKeys.EVAL:
        metrics = {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, 1))}
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)
    train_op = tf.train.AdamOptimizer(0.02).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
