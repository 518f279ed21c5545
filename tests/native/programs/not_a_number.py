"""A loss that is NaN fails a training, whatever a hook of its own says of it."""

import json
import tempfile

import numpy as np
import tensorflow as tf


def model_fn(features, labels, mode):
    out = tf.layers.dense(features, 1)
    # The fourth batch has a negative number.
    loss = tf.reduce_mean(tf.sqrt(labels) + 0.0 * out, name="loss")
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(
        loss, tf.train.get_global_step()
    )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    x = np.ones((8, 2), np.float32)
    y = np.array([[1.0], [1.0], [1.0], [-1.0], [1.0], [1.0], [1.0], [1.0]], np.float32)
    return tf.data.Dataset.from_tensor_slices((x, y)).batch(1)


config = tf.estimator.RunConfig(
    model_dir=tempfile.mkdtemp(), save_checkpoints_steps=2, log_step_count_steps=2
)
estimator = tf.estimator.Estimator(model_fn, config=config)
found = []
# The second training meets the same batch.
for _ in range(2):
    try:
        hook = tf.train.NanTensorHook("loss:0", fail_on_nan_loss=False)
        estimator.train(data, hooks=[hook])
    except tf.train.NanLossDuringTrainingError as problem:
        found.append(str(problem))
    found.append(int(estimator.get_variable_value("global_step")))
print(json.dumps(found))
