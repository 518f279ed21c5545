"""A loss that only get_total_loss takes up; a rate that decays by a lambda."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]
layers = tf.contrib.layers


def embed(ids, name, size):
    table = tf.get_variable(name, [size, 4])
    return tf.nn.embedding_lookup(table, ids)


def model_fn(features, labels, mode, params):
    user = embed(features["user"], "user_table", 9)
    item = embed(features["item"], "item_table", 7)
    item = tf.concat([item, tf.expand_dims(features["price"], 1)], axis=1)
    decay = layers.l2_regularizer(0.01)
    left = layers.fully_connected(user, 5, scope="user", weights_regularizer=decay)
    right = layers.fully_connected(item, 5, scope="item", weights_regularizer=decay)
    score = tf.reduce_sum(left * right, axis=1)
    weights = tf.where(
        tf.equal(labels, 1), 2.0 * tf.ones_like(score), tf.ones_like(score)
    )
    tf.losses.sigmoid_cross_entropy(labels, score, weights=weights)
    loss = tf.losses.get_total_loss()
    train_op = layers.optimize_loss(
        loss=loss,
        global_step=tf.train.get_global_step(),
        learning_rate=params["learning_rate"],
        optimizer="Adam",
        clip_gradients=0.5,
        learning_rate_decay_fn=lambda lr, step: tf.train.natural_exp_decay(
            lr, step, 3, 0.2
        ),
    )
    probability = tf.nn.sigmoid(score)
    return tf.estimator.EstimatorSpec(
        mode,
        predictions={"probability": probability},
        loss=loss,
        train_op=train_op,
        eval_metric_ops={"mean": tf.metrics.mean(probability)},
    )


def data(count=40, seed=0):
    draw = np.random.RandomState(seed)
    x = {
        "user": draw.randint(9, size=count).astype(np.int32),
        "item": draw.randint(7, size=count).astype(np.int32),
        "price": draw.uniform(size=count).astype(np.float32),
    }
    y = (x["user"] % 3 == x["item"] % 3).astype(np.int32)
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat(4).batch(20)


estimator = tf.estimator.Estimator(
    model_fn,
    MODEL_DIR,
    params={"learning_rate": 0.05},
    config=tf.estimator.RunConfig(log_step_count_steps=1),
)
estimator.train(data)
RESULT = estimator.evaluate(lambda: data(30, 1))
