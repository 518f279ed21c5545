"""A net of two layers trained with K-FAC."""

import kfac
import tensorflow as tf
from steps import RANDOM, train

INPUTS = RANDOM.rand(32, 5).astype("float32")
LABELS = RANDOM.randint(3, size=32).astype("int32")


def input_fn():
    return tf.data.Dataset.from_tensor_slices((INPUTS, LABELS)).repeat().batch(16)


def model_fn(features, labels, mode):
    first, last = tf.layers.Dense(6), tf.layers.Dense(3)
    hidden = first(features)
    logits = last(tf.nn.relu(hidden))
    layers = kfac.LayerCollection()
    layers.register_fully_connected(first.trainable_weights, features, hidden)
    layers.register_fully_connected(last.trainable_weights, tf.nn.relu(hidden), logits)
    layers.register_softmax_cross_entropy_loss(logits, name="logits")
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = kfac.PeriodicInvCovUpdateKfacOpt(
        invert_every=1,
        cov_update_every=1,
        learning_rate=0.01,
        damping=0.1,
        momentum=0.5,
        layer_collection=layers,
    )
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


train(tf.estimator.Estimator(model_fn), input_fn)
