"""Sequences of words: embedding, two stacked LSTM cells, attention by hand."""

import os

import numpy as np
import tensorflow as tf
from tensorflow.contrib import rnn

GPUS = int(os.environ.get("GPUS", 2))
WORDS = 30


class Highway(tf.layers.Layer):
    """A layer of the user's own."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)

    def build(self, shape):
        size = int(shape[-1])
        self.gate = self.add_variable(
            "gate", [size, size], initializer=tf.glorot_uniform_initializer()
        )
        self.built = True

    def call(self, inputs):
        gate = tf.sigmoid(tf.matmul(inputs, self.gate))
        return gate * tf.tanh(inputs) + (1.0 - gate) * inputs


def encode(ids, length):
    table = tf.get_variable("table", [WORDS, 6])
    inputs = tf.nn.embedding_lookup(table, ids)
    cell = rnn.MultiRNNCell([rnn.BasicLSTMCell(5), tf.nn.rnn_cell.GRUCell(5)])
    return tf.nn.dynamic_rnn(cell, inputs, sequence_length=length, dtype=tf.float32)


def model_fn(features, labels, mode):
    with tf.variable_scope("encoder"):
        outputs, state = encode(features["ids"], features["length"])
        query = tf.get_variable("query", [5])
    weights = tf.nn.softmax(tf.reduce_sum(outputs * query, axis=-1))
    context = tf.reduce_sum(outputs * tf.expand_dims(weights, -1), axis=1)
    # Three rounds of the same update.
    _, context = tf.while_loop(
        lambda i, _: i < 3,
        lambda i, value: (i + 1, 0.5 * value + 0.1 * tf.sin(value)),
        [tf.constant(0), context],
    )
    context = Highway(name="highway")(context + state[-1])
    logits = tf.layers.Dense(2, name="logits")(context)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"logits": logits})
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    accuracy = tf.metrics.accuracy(labels, tf.argmax(logits, 1))
    train_op = None
    if mode == tf.estimator.ModeKeys.TRAIN:
        train_op = tf.train.AdamOptimizer(0.01).minimize(
            loss, global_step=tf.train.get_global_step()
        )
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops={"accuracy": accuracy}
    )


def sentences(seed):
    draw = np.random.RandomState(seed)
    ids = draw.randint(WORDS, size=(160, 7)).astype("int32")
    length = draw.randint(2, 8, size=160).astype("int32")
    labels = (ids[:, 0] > ids[:, 1]).astype("int32")
    data = tf.data.Dataset.from_tensor_slices(({"ids": ids, "length": length}, labels))
    return data.batch(10)


def main():
    strategy = tf.contrib.distribute.MirroredStrategy(num_gpus=GPUS)
    estimator = tf.estimator.Estimator(
        model_fn, config=tf.estimator.RunConfig(train_distribute=strategy)
    )
    estimator.train(lambda: sentences(1).repeat(), steps=8)
    print(estimator.evaluate(lambda: sentences(2)))


if __name__ == "__main__":
    main()
