"""tf.contrib.layers with their defaults, l2 added to the loss; 2 replicas."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


def model_fn(features, labels, mode, params):
    is_training = mode == tf.estimator.ModeKeys.TRAIN
    decay = tf.contrib.layers.l2_regularizer(params["l2"])
    with tf.variable_scope("net"):
        net = tf.contrib.layers.fully_connected(
            features["x"],
            9,
            weights_regularizer=decay,
            normalizer_fn=tf.contrib.layers.batch_norm,
            normalizer_params={"is_training": is_training, "decay": 0.9},
        )
        net = tf.contrib.layers.fully_connected(
            net, 5, activation_fn=tf.nn.sigmoid, weights_regularizer=decay, scope="fc2"
        )
        net = tf.contrib.layers.dropout(net, keep_prob=1.0, is_training=is_training)
        if is_training:
            net = tf.contrib.nn.alpha_dropout(net, keep_prob=1.0)
        logits = tf.contrib.layers.fully_connected(net, 1, activation_fn=None)
    logits = tf.squeeze(logits, axis=1)
    probability = tf.sigmoid(logits)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"p": probability})
    data_loss = tf.losses.sigmoid_cross_entropy(labels, logits)
    loss = data_loss + tf.losses.get_regularization_loss()
    if mode == tf.estimator.ModeKeys.EVAL:
        decided = tf.round(probability)
        return tf.estimator.EstimatorSpec(
            mode,
            loss=loss,
            eval_metric_ops={
                "auc": tf.metrics.auc(labels, probability),
                "precision": tf.metrics.precision(labels, decided),
                "recall": tf.metrics.recall(labels, decided),
            },
        )
    train_op = tf.contrib.layers.optimize_loss(
        loss,
        tf.train.get_global_step(),
        learning_rate=params["learning_rate"],
        optimizer="Adam",
        clip_gradients=0.7,
    )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


strategy = tf.distribute.MirroredStrategy(
    ["/cpu:0", "/cpu:1"], cross_device_ops=tf.distribute.ReductionToOneDevice()
)


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 6)).astype(np.float32)
    y = (x.sum(axis=1) > 0).astype(np.float32)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).repeat(6).batch(20)


estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=MODEL_DIR,
    config=tf.estimator.RunConfig(
        log_step_count_steps=1, tf_random_seed=5, train_distribute=strategy
    ),
    params={"l2": 0.02, "learning_rate": 0.01},
)
estimator.train(data, steps=8)
RESULT = estimator.evaluate(lambda: data(50, seed=1))
