"""A small Estimator program of 2018: dense layers, Adam, two replicas."""

import os

import numpy as np
import tensorflow as tf

EPOCHS = int(os.environ.get("EPOCHS", "3"))


def model_fn(features, labels, mode):
    hidden = tf.layers.dense(features["x"], 8, activation=tf.nn.tanh)
    logits = tf.layers.dense(hidden, 2)
    # Small gradients, beside which Adam's epsilon is not.
    loss = 1e-4 * tf.losses.sparse_softmax_cross_entropy(labels, logits)
    accuracy = tf.metrics.accuracy(labels, tf.argmax(logits, axis=1))
    train_op = tf.train.AdamOptimizer(0.01).minimize(
        loss, global_step=tf.train.get_or_create_global_step()
    )
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops={"accuracy": accuracy}
    )


def input_fn(epochs):
    rng = np.random.RandomState(0)
    x = rng.normal(size=(64, 4)).astype(np.float32)
    y = (x.sum(axis=1) > 0).astype(np.int32)
    dataset = tf.data.Dataset.from_tensor_slices(({"x": x}, y))
    return dataset.shuffle(64).repeat(epochs).batch(8)


if __name__ == "__main__":
    strategy = tf.contrib.distribute.MirroredStrategy(num_gpus=2)
    estimator = tf.estimator.Estimator(
        model_fn,
        config=tf.estimator.RunConfig(
            train_distribute=strategy, save_summary_steps=1, tf_random_seed=1
        ),
    )
    estimator.train(lambda: input_fn(EPOCHS))
    print(estimator.evaluate(lambda: input_fn(1)))
