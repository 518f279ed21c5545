"""Layers of slim in arg scopes, its losses and its train op, in an Estimator."""

import tensorflow as tf
import tf_slim as slim
from steps import RANDOM, train

IMAGES = RANDOM.rand(16, 12, 12, 1).astype("float32")
LABELS = RANDOM.randint(3, size=16).astype("int64")


def input_fn():
    return tf.data.Dataset.from_tensor_slices((IMAGES, LABELS)).repeat().batch(8)


def model_fn(features, labels, mode):
    training = mode == tf.estimator.ModeKeys.TRAIN
    with slim.arg_scope(
        [slim.conv2d, slim.fully_connected],
        weights_regularizer=slim.l2_regularizer(0.01),
        normalizer_fn=slim.batch_norm,
        normalizer_params={"is_training": training},
    ):
        net = slim.repeat(features, 2, slim.conv2d, 4, [3, 3], scope="conv")
        net = slim.max_pool2d(net, [2, 2], scope="pool")
        net = slim.fully_connected(slim.flatten(net), 8, scope="dense")
    logits = slim.fully_connected(net, 3, activation_fn=None, scope="logits")
    tf.compat.v1.losses.sparse_softmax_cross_entropy(labels, logits)
    loss = tf.compat.v1.losses.get_total_loss()
    optimizer = tf.compat.v1.train.MomentumOptimizer(0.05, 0.9)
    train_op = slim.learning.create_train_op(
        loss, optimizer, tf.compat.v1.train.get_global_step()
    )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


train(tf.estimator.Estimator(model_fn), input_fn)
