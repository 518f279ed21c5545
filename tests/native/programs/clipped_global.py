"""tf.gradients clipped together; the optimizer is chosen by a parameter."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


def model_fn(features, labels, mode, params):
    hidden = tf.layers.Dense(8, activation=tf.nn.relu)
    net = hidden(features["x"])
    with tf.name_scope("head"):
        logits = tf.layers.dense(net, 3)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=tf.nn.softmax(logits))
    one_hot = tf.one_hot(labels, 3)
    cross_entropy = tf.nn.softmax_cross_entropy_with_logits_v2(
        labels=one_hot, logits=logits
    )
    loss = tf.reduce_mean(cross_entropy)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(
            mode, loss=loss, eval_metric_ops={"entropy": tf.metrics.mean(cross_entropy)}
        )
    if params["optimizer"] == "rmsprop":
        optimizer = tf.train.RMSPropOptimizer(params["rate"], momentum=0.5)
    elif params["optimizer"] == "adagrad":
        optimizer = tf.train.AdagradOptimizer(params["rate"])
    else:
        raise ValueError("unknown optimizer")
    variables = tf.trainable_variables()
    gradients = tf.gradients(loss, variables)
    gradients, _ = tf.clip_by_global_norm(gradients, 0.2)
    train_op = optimizer.apply_gradients(
        zip(gradients, variables), global_step=tf.train.get_global_step()
    )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 6)).astype(np.float32)
    y = draw.randint(3, size=count)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).repeat(6).batch(20)


estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=MODEL_DIR,
    config=tf.estimator.RunConfig(log_step_count_steps=1, tf_random_seed=5),
    params={"optimizer": "rmsprop", "rate": 0.02},
)
estimator.train(data, steps=8)
RESULT = estimator.evaluate(lambda: data(50, seed=1))
