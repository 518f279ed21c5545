"""Columns of two lists, and of a sequence, that share one embedding."""

import numpy as np
import tensorflow as tf
from tensorflow import feature_column as fc

SEEN, LIKED = 6, 4


def columns():
    item = fc.sequence_categorical_column_with_identity("item", 20)
    seen = fc.sequence_categorical_column_with_identity("seen", 20)
    item_table, seen_table = fc.shared_embedding_columns([item, seen], 3)
    first, second = (fc.categorical_column_with_identity(one, 9) for one in "ab")
    tables = fc.shared_embedding_columns([first, second], 2, combiner="sqrtn")
    kinds = fc.categorical_column_with_vocabulary_list("kind", ["x", "y"])
    own = fc.embedding_column(first, 2)
    return {
        "dense": [fc.numeric_column("price"), tables[0]],
        "kinds": [fc.indicator_column(kinds), tables[1], own],
        "item": [item_table],
        "seen": [seen_table],
    }


PARAMS = columns()


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    seen = draw.randint(0, 20, (count, SEEN))
    seen[draw.uniform(size=seen.shape) < 0.3] = -1
    features = {
        "price": draw.normal(size=(count, 1)).astype(np.float32),
        "a": draw.randint(0, 9, (count, 2)),
        "b": draw.randint(0, 9, (count, 3)),
        "kind": draw.choice(["x", "y"], (count, 1)),
        "item": draw.randint(0, 20, (count, 1)),
        "seen": np.sort(seen)[:, ::-1].copy(),
    }
    y = features["price"] + features["a"][:, :1].astype(np.float32) / 9
    dataset = tf.data.Dataset.from_tensor_slices((features, y))
    return dataset.repeat(6).batch(20)


def model_fn(features, labels, mode, params):
    with tf.variable_scope("dense"):
        dense = fc.input_layer(features, params["dense"])
    with tf.variable_scope("kinds"):
        kinds = fc.input_layer(features, params["kinds"])
    with tf.variable_scope("item"):
        item, _ = tf.contrib.feature_column.sequence_input_layer(
            features, params["item"]
        )
    with tf.variable_scope("seen"):
        seen, length = tf.contrib.feature_column.sequence_input_layer(
            features, params["seen"]
        )
    mask = tf.sequence_mask(length, tf.shape(seen)[1], tf.float32)
    mean = tf.reduce_sum(seen * mask[:, :, None], 1)
    net = tf.concat([dense, kinds, item[:, 0], mean], 1)
    net = tf.layers.dense(net, 5, tf.nn.relu)
    output = tf.layers.dense(net, 1, name="output")
