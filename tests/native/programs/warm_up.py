"""A learning rate computed from the step: warm-up in BERT's manner, then decay."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


def create_optimizer(loss, init_lr, num_train_steps, num_warmup_steps):
    global_step = tf.train.get_or_create_global_step()
    learning_rate = tf.constant(value=init_lr, shape=[], dtype=tf.float32)
    # Linear decay to zero.
    learning_rate = tf.train.polynomial_decay(
        learning_rate,
        global_step,
        num_train_steps,
        end_learning_rate=0.0,
        power=1.0,
        cycle=False,
    )
    if num_warmup_steps:
        global_steps_int = tf.cast(global_step, tf.int32)
        warmup_steps_int = tf.constant(num_warmup_steps, dtype=tf.int32)
        global_steps_float = tf.to_float(global_steps_int)
        warmup_steps_float = tf.cast(warmup_steps_int, tf.float32)
        # During warm-up the rate grows with the step.
        warmup_learning_rate = init_lr * global_steps_float / warmup_steps_float
        is_warmup = tf.cast(global_steps_int < warmup_steps_int, tf.float32)
        learning_rate = (
            1.0 - is_warmup
        ) * learning_rate + is_warmup * warmup_learning_rate
    learning_rate = tf.cond(
        global_step < 6, lambda: learning_rate, lambda: 0.5 * learning_rate
    )
    optimizer = tf.train.GradientDescentOptimizer(learning_rate)
    return optimizer.minimize(loss, global_step=global_step)


def model_fn(features, labels, mode, params):
    net = tf.layers.dense(features["x"], 8, activation=tf.nn.relu)
    logits = tf.layers.dense(net, 1)
    loss = tf.losses.mean_squared_error(labels, tf.squeeze(logits, 1))
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        train_op = create_optimizer(loss, params["rate"], params["steps"], 4)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 6)).astype(np.float32)
    y = x.sum(axis=1)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).repeat(20).batch(20)


estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=MODEL_DIR,
    config=tf.estimator.RunConfig(log_step_count_steps=1, tf_random_seed=5),
    params={"rate": 0.05, "steps": 30},
)
estimator.train(data, steps=24)
RESULT = estimator.evaluate(lambda: data(50, seed=1))
