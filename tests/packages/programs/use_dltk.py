"""The residual net for volumes as a classifier."""

import tensorflow as tf
from dltk.networks.regression_classification.resnet import resnet_3d
from steps import RANDOM, train

VOLUMES = RANDOM.rand(4, 8, 8, 8, 1).astype("float32")
LABELS = RANDOM.randint(2, size=4).astype("int32")


def input_fn():
    return tf.data.Dataset.from_tensor_slices((VOLUMES, LABELS)).repeat().batch(2)


def model_fn(features, labels, mode):
    net = resnet_3d(
        features,
        num_classes=2,
        num_res_units=1,
        filters=(4, 8),
        strides=((1, 1, 1), (2, 2, 2)),
        mode=mode,
    )
    loss = tf.losses.sparse_softmax_cross_entropy(labels, net["logits"])
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = tf.train.MomentumOptimizer(0.01, 0.9).minimize(
            loss, tf.train.get_global_step()
        )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


train(tf.estimator.Estimator(model_fn), input_fn)
