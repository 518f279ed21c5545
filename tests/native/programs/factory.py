"""A function returns the model_fn; learning rate and sizes are its closure."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


def make_model_fn(classes, hidden=6, rate=0.1):
    """Returns a model_fn for that many classes."""

    def model_fn(features, labels, mode):
        net = tf.layers.dense(features["x"], hidden, activation=tf.nn.relu)
        logits = tf.layers.dense(net, classes)
        predictions = {"classes": tf.argmax(logits, axis=1)}
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions=predictions)
        one_hot = tf.one_hot(labels, classes)
        loss = tf.losses.softmax_cross_entropy(one_hot, logits)
        if mode == tf.estimator.ModeKeys.EVAL:
            accuracy = tf.metrics.accuracy(labels, predictions["classes"])
            return tf.estimator.EstimatorSpec(
                mode, loss=loss, eval_metric_ops={"accuracy": accuracy})
        step = tf.train.get_or_create_global_step()
        decayed = tf.train.polynomial_decay(rate, step, 6, 0.01, power=2.0)
        optimizer = tf.train.AdagradOptimizer(decayed)
        train_op = optimizer.minimize(loss, global_step=step)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    return model_fn


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 6)).astype(np.float32)
    y = draw.randint(3, size=count)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).repeat(6).batch(20)


def main():
    estimator = tf.estimator.Estimator(
        make_model_fn(3, rate=0.2),
        model_dir=MODEL_DIR,
        config=tf.estimator.RunConfig(log_step_count_steps=1, tf_random_seed=5),
    )
    estimator.train(data, steps=8)
    return estimator.evaluate(lambda: data(50, seed=1))


RESULT = main()
