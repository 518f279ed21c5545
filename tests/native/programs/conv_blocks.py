"""A helper that makes layers, called several times; UPDATE_OPS; 2 replicas."""

import os

import numpy as np
import tensorflow as tf

MODEL_DIR = os.environ["MODEL_DIR"]


def conv_block(x, filters, training, activation=tf.nn.relu):
    """Convolution, normalisation, activation."""
    x = tf.layers.conv2d(x, filters, 3, padding="same", use_bias=False)
    x = tf.layers.batch_normalization(x, training=training)
    return activation(x)


def network(images, training):
    net = conv_block(images, 4, training)
    net = tf.layers.max_pooling2d(net, 2, 2)
    net = conv_block(net, 6, training, activation=tf.nn.elu)
    net = tf.reduce_mean(net, axis=[1, 2])
    return tf.layers.dense(net, 3)


def model_fn(features, labels, mode, params):
    images = tf.reshape(features["x"], [-1, 8, 8, 1])
    logits = network(images, mode == tf.estimator.ModeKeys.TRAIN)
    predictions = {"classes": tf.argmax(logits, axis=1)}
    loss = train_op = metrics = None
    if mode != tf.estimator.ModeKeys.PREDICT:
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        )
        metrics = {"accuracy": tf.metrics.accuracy(labels, predictions["classes"])}
    if mode == tf.estimator.ModeKeys.TRAIN:
        optimizer = tf.train.MomentumOptimizer(params["learning_rate"], 0.9)
        with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
            train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(
        mode=mode,
        predictions=predictions,
        loss=loss,
        train_op=train_op,
        eval_metric_ops=metrics,
    )


strategy = tf.distribute.MirroredStrategy(
    ["/cpu:0", "/cpu:1"], cross_device_ops=tf.distribute.ReductionToOneDevice()
)


def data(count=60, seed=0):
    draw = np.random.RandomState(seed)
    x = draw.normal(size=(count, 64)).astype(np.float32)
    y = draw.randint(3, size=count)
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).repeat(6).batch(20)


estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=MODEL_DIR,
    config=tf.estimator.RunConfig(
        log_step_count_steps=1, tf_random_seed=5, train_distribute=strategy
    ),
    params={"learning_rate": 0.05},
)
estimator.train(data, steps=8)
RESULT = estimator.evaluate(lambda: data(50, seed=1))
