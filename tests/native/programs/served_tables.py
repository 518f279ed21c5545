"""A model that looks words up in tables of its own, one of them in what is exported."""

import os

import numpy as np
import tensorflow as tf

OUT = os.environ["EXPORTS"]
NAMES = ["low", "high"]
exported = tf.estimator.export.PredictOutput


def input_fn():
    x = np.random.RandomState(1).uniform(-1, 1, size=(40, 4)).astype("float32")
    labels = np.array(NAMES)[(x[:, 0] > 0).astype("int32")]
    return tf.data.Dataset.from_tensor_slices((x, labels)).batch(8)


def serving_fn():
    x = tf.placeholder(tf.float32, [None, 4])
    return tf.estimator.export.TensorServingInputReceiver(x, x)


def numbers_of(labels):
    table = tf.contrib.lookup.index_table_from_tensor(NAMES)
    return table.lookup(labels)


def model_fn(features, labels, mode):
    logits = tf.layers.dense(features, 2, kernel_initializer=tf.zeros_initializer())
    if mode == tf.estimator.ModeKeys.PREDICT:
        names = tf.contrib.lookup.index_to_string_table_from_tensor(NAMES)
        predictions = {
            "classes": names.lookup(tf.argmax(logits, 1)),
            "scores": tf.nn.softmax(logits),
        }
        return tf.estimator.EstimatorSpec(
            mode,
            predictions=predictions,
            export_outputs={"serving_default": exported(predictions)},
        )
    loss = tf.losses.sparse_softmax_cross_entropy(numbers_of(labels), logits)
    optimizer = tf.train.GradientDescentOptimizer(0.5)
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def main():
    model = tf.estimator.Estimator(model_fn, os.path.join(OUT, "model"))
    model.train(input_fn)
    model.export_saved_model(os.path.join(OUT, "tables"), serving_fn)


if __name__ == "__main__":
    main()
