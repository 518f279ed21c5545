"""Feature columns into a deep part; weight decay over all kernels."""

import os

import numpy as np
import tensorflow as tf

GPUS = int(os.environ.get("GPUS", 2))
COLORS = ["red", "green", "blue"]


def columns():
    color = tf.feature_column.categorical_column_with_vocabulary_list("color", COLORS)
    return [
        tf.feature_column.numeric_column("size"),
        tf.feature_column.embedding_column(color, 2),
        tf.feature_column.indicator_column(color),
    ]


def model_fn(features, labels, mode, params):
    inputs = tf.feature_column.input_layer(features, params["columns"])
    with tf.variable_scope("deep"):
        kernel = tf.get_variable("kernel", [6, 5])
        hidden = tf.nn.tanh(tf.matmul(inputs, kernel))
    price = tf.squeeze(tf.layers.dense(hidden, 1), axis=1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"price": price})
    decay = tf.add_n(
        [
            tf.nn.l2_loss(v)
            for v in tf.trainable_variables()
            if v.name.endswith("kernel:0")
        ]
    )
    loss = tf.losses.mean_squared_error(labels, price) + params["decay"] * decay
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    train_op = tf.train.AdagradOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def homes(seed):
    draw = np.random.RandomState(seed)
    size = draw.uniform(1, 3, size=(160, 1)).astype("float32")
    color = draw.choice(COLORS, size=(160, 1))
    price = size[:, 0] * (1 + (color[:, 0] == "red"))
    data = tf.data.Dataset.from_tensor_slices(
        ({"size": size, "color": color}, price.astype("float32"))
    )
    return data.batch(10)


def main():
    strategy = tf.contrib.distribute.MirroredStrategy(num_gpus=GPUS)
    estimator = tf.estimator.Estimator(
        model_fn,
        config=tf.estimator.RunConfig(train_distribute=strategy),
        params={"columns": columns(), "decay": 0.01},
    )
    estimator.train(lambda: homes(1).repeat(), steps=8)
    print(estimator.evaluate(lambda: homes(2)))


if __name__ == "__main__":
    main()
