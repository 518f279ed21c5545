"""A model function in one line, that hands another one the function of its model."""

import numpy as np
import tensorflow as tf

SIZE = 8


def steps(x, n=1):
    x = tf.expand_dims(x, axis=2)
    out, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(6), x, dtype=tf.float32)
    return tf.squeeze(tf.layers.dense(out, 1)[:, -n:SIZE, :], axis=-1)


# fmt: off
def half_of_them(x): return steps(x, n=SIZE // 2)
# fmt: on


def data(count=80, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, SIZE)).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices((x, np.roll(x, -1, axis=1))).batch(10)


def any_model_fn(features, labels, mode, model=steps):
    out = model(features)
    loss = train_op = metrics = None
    if mode != tf.estimator.ModeKeys.PREDICT:
        wanted = labels[:, -tf.shape(out)[1] : SIZE]
        loss = tf.losses.mean_squared_error(out, wanted)
        optimizer = tf.train.AdamOptimizer(learning_rate=0.01)
        train_op = tf.contrib.training.create_train_op(loss, optimizer)
        metrics = {"rmse": tf.metrics.root_mean_squared_error(out, wanted)}
    return tf.estimator.EstimatorSpec(
        mode=mode,
        predictions={"last": out[:, -1]},
        loss=loss,
        train_op=train_op,
        eval_metric_ops=metrics,
    )


# fmt: off
def model_fn(features, labels, mode): return any_model_fn(features, labels, mode, model=half_of_them)  # noqa: E501
# fmt: on
