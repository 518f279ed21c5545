"""Settings that have other values when the Estimator is trained than it was given."""

import os

import numpy as np
import tensorflow as tf

rng = np.random.RandomState(2)
X = rng.rand(64, 8).astype(np.float32)
Y = (X.max(axis=1) > 0.85).astype(np.int32)


def model_fn(features, labels, mode, params):
    net = tf.layers.dense(features["x"], params["units"], activation=tf.nn.relu)
    logits = tf.layers.dense(net, 2) * params["scale"]
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    optimizer = tf.train.GradientDescentOptimizer(params["rate"])
    train_op = optimizer.minimize(loss, tf.train.get_global_step())
    accuracy = tf.metrics.accuracy(labels, tf.argmax(logits, 1))
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops={"accuracy": accuracy}
    )


train_input_fn = tf.estimator.inputs.numpy_input_fn(
    {"x": X}, Y, batch_size=16, num_epochs=None, shuffle=False
)
test_input_fn = tf.estimator.inputs.numpy_input_fn(
    {"x": X}, Y, batch_size=16, shuffle=False
)

rate = 0.1
where = os.path.join(os.environ["MODEL_DIR"], "first")
estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=where,
    params={"units": 6, "rate": rate, "scale": 2.0},
    config=tf.estimator.RunConfig(log_step_count_steps=1),
)
rate = 3.0
where = os.path.join(os.environ["MODEL_DIR"], "second")

estimator.train(train_input_fn, steps=8)
RESULT = estimator.evaluate(test_input_fn)
RESULT["rate"] = rate
RESULT["second"] = float(os.path.exists(where))
