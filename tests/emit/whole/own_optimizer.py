"""An optimizer written by hand, batch normalization, and two copies of the model."""

import os
import re
import tempfile

import numpy as np
import tensorflow as tf


class DecayedMomentum(tf.train.Optimizer):
    """Momentum with decoupled weight decay, its velocity in plain variables."""

    def __init__(self, rate, momentum=0.9, decay=0.01, name="DecayedMomentum"):
        super(DecayedMomentum, self).__init__(False, name)
        self.rate, self.momentum, self.decay = rate, momentum, decay

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        updates = []
        for grad, param in grads_and_vars:
            if grad is None:
                continue
            base = re.match("^(.*):\\d+$", param.name).group(1)
            velocity = tf.get_variable(
                base + "/velocity",
                shape=param.shape.as_list(),
                trainable=False,
                initializer=tf.zeros_initializer(),
            )
            moved = self.momentum * velocity + grad
            step = moved + self.decay * param
            updates += [velocity.assign(moved), param.assign(param - self.rate * step)]
        return tf.group(*updates, name=name)


def tower(x, training):
    with tf.variable_scope("tower"):
        x = tf.layers.dense(x, 8, name="hidden")
        x = tf.layers.batch_normalization(x, training=training, momentum=0.8)
        x = tf.nn.relu(x)
        return tf.layers.dense(x, 2, name="scores")


def model_fn(features, labels, mode):
    logits = tower(features, mode == tf.estimator.ModeKeys.TRAIN)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=logits
    )
    loss = tf.reduce_mean(losses)
    if mode == tf.estimator.ModeKeys.TRAIN:
        variables = tf.trainable_variables()
        gradients, _ = tf.clip_by_global_norm(tf.gradients(loss, variables), 1.0)
        step = tf.train.get_global_step()
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        with tf.control_dependencies(updates):
            train_op = DecayedMomentum(0.05).apply_gradients(zip(gradients, variables))
        with tf.control_dependencies([train_op]):
            train_op = tf.assign_add(step, 1)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
    metrics = {"accuracy": tf.metrics.accuracy(labels, tf.argmax(logits, 1))}
    return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops=metrics)


def data(count):
    rng = np.random.RandomState(1)
    x = rng.normal(size=(count, 5)).astype("float32")
    return tf.data.Dataset.from_tensor_slices((x, (x[:, 0] > 0).astype("int64")))


MODEL_DIR = os.environ.get("MODEL_DIR") or tempfile.mkdtemp()
estimator = tf.estimator.Estimator(model_fn, model_dir=MODEL_DIR)
estimator.train(lambda: data(60).repeat().batch(12), steps=12)
RESULT = estimator.evaluate(lambda: data(40).batch(12))
