"""Iterators that hooks initialise and feed, so that no array is in the graph."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


class IteratorInitializerHook(tf.train.SessionRunHook):
    """Initialises the iterator after the session was made."""

    def __init__(self):
        super(IteratorInitializerHook, self).__init__()
        self.iterator_initializer_func = None

    def after_create_session(self, session, coord):
        """Runs what the input function left."""
        self.iterator_initializer_func(session)


class EvalHook(tf.train.SessionRunHook):
    data_init_op = None

    def after_create_session(self, session, coord):
        session.run(self.data_init_op)


def get_inputs(features, labels, batch_size):
    hook = IteratorInitializerHook()

    def input_fn():
        x = tf.placeholder(features.dtype, features.shape)
        # Fed as float64.
        y = tf.placeholder(tf.float32, [None, 1])
        dataset = tf.data.Dataset.from_tensor_slices((x, y))
        dataset = dataset.repeat(None).batch(batch_size)
        iterator = dataset.make_initializable_iterator()
        next_x, next_y = iterator.get_next()
        hook.iterator_initializer_func = lambda sess: sess.run(
            iterator.initializer, feed_dict={x: features, y: labels}
        )
        return next_x, next_y

    return input_fn, hook


eval_hook = EvalHook()


def eval_input_fn():
    dataset = tf.data.Dataset.from_tensor_slices(numbers(1)).batch(20)
    iterator = dataset.make_initializable_iterator()
    eval_hook.data_init_op = iterator.initializer
    return iterator.get_next()


def numbers(seed):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(60, 5)).astype(np.float32)
    return x, x[:, :1] - 2.0 * x[:, 1:2]


def model_fn(features, labels, mode, params):
    net = tf.layers.dense(features, 4, activation=tf.nn.tanh)
    out = tf.layers.dense(net, 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"out": out})
    loss = tf.losses.mean_squared_error(labels, out)
    metrics = {"off": tf.metrics.mean_absolute_error(labels, out)}
    optimizer = tf.train.AdamOptimizer(params["rate"])
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops=metrics
    )


estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=MODEL_DIR,
    config=tf.estimator.RunConfig(log_step_count_steps=1, tf_random_seed=5),
    params={"rate": 0.05},
)
x, y = numbers(0)
train_fn, train_hook = get_inputs(x, y.astype(np.float64), 16)
estimator.train(train_fn, hooks=[train_hook], steps=8)
RESULT = estimator.evaluate(eval_input_fn, hooks=[eval_hook])
