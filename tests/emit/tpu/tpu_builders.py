"""Input functions from builders, params of the user's own, a metric with a dict."""

import numpy as np
import tensorflow as tf
from tensorflow.contrib import tpu as contrib_tpu

FLAGS = tf.app.flags.FLAGS
tf.app.flags.DEFINE_boolean("use_tpu", False, "Whether to run on a TPU.")
tf.app.flags.DEFINE_integer("batch_size", 16, "Batch size.")

WORDS = 20


def encode(ids, size):
    with tf.variable_scope("encoder", initializer=tf.random_normal_initializer(0, 0.1)):
        table = tf.get_variable("table", [WORDS, size])
        cell = tf.nn.rnn_cell.GRUCell(size)
        _, state = tf.nn.dynamic_rnn(
            cell, tf.nn.embedding_lookup(table, ids), dtype=tf.float32
        )
    return state


def model_fn(features, labels, mode, params):
    state = encode(features["ids"], params["size"])
    score = tf.layers.dense(state, 1, name="score")[:, 0]
    if mode == tf.estimator.ModeKeys.PREDICT:
        return contrib_tpu.TPUEstimatorSpec(mode, predictions={"score": score})
    loss = tf.losses.mean_squared_error(labels, score)
    if mode == tf.estimator.ModeKeys.EVAL:
        return contrib_tpu.TPUEstimatorSpec(
            mode,
            loss=loss,
            eval_metrics=(
                lambda targets, outputs: {
                    "mae": tf.metrics.mean_absolute_error(targets, outputs)
                },
                {"targets": labels, "outputs": score},
            ),
        )
    optimizer = tf.train.AdamOptimizer(params["rate"])
    optimizer = (
        contrib_tpu.CrossShardOptimizer(optimizer) if FLAGS.use_tpu else optimizer
    )
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return contrib_tpu.TPUEstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn_builder(seed, is_training):
    """Returns an input function."""

    def input_fn(params):
        draw = np.random.RandomState(seed)
        ids = draw.randint(WORDS, size=(160, 5)).astype("int32")
        labels = (ids[:, 0] - ids[:, 1]).astype("float32") / WORDS
        data = tf.data.Dataset.from_tensor_slices(({"ids": ids}, labels))
        if is_training:
            data = data.repeat()
        return data.batch(params["batch_size"], drop_remainder=True)

    return input_fn


def main(_):
    estimator = contrib_tpu.TPUEstimator(
        model_fn,
        config=contrib_tpu.RunConfig(tpu_config=contrib_tpu.TPUConfig(100)),
        params={"size": 6, "rate": 0.01},
        use_tpu=FLAGS.use_tpu,
        train_batch_size=FLAGS.batch_size,
        eval_batch_size=FLAGS.batch_size,
    )
    train_input_fn = input_fn_builder(1, True)
    estimator.train(input_fn=train_input_fn, max_steps=8)
    print(estimator.evaluate(input_fn=input_fn_builder(2, False)))


if __name__ == "__main__":
    tf.app.run()
