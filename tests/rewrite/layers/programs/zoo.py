"""A network that a module holds, and one that a registry object gives by name."""

import numpy as np
import tensorflow as tf
from zoo_networks import HEAD, PARTS, ZOO


def model_fn(features, labels, mode, params):
    network = ZOO[params["network"]](params["units"])
    seen = network.forward(features["x"], mode == tf.estimator.ModeKeys.TRAIN)
    seen += PARTS.named("square")(features["x"], params["units"])
    out = HEAD(seen)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"out": out})
    loss = tf.losses.mean_squared_error(labels, out) + 0.1 * tf.reduce_mean(HEAD.hidden)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = tf.train.MomentumOptimizer(0.05, 0.5).minimize(
            loss, tf.train.get_global_step()
        )
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def data():
    draw = np.random.RandomState(3)
    x = draw.normal(size=(32, 4)).astype("float32")
    y = x[:, :1] - 2.0 * x[:, 1:2]
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).batch(8)


def forever():
    return data().repeat()


estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=DIRECTORY,
    config=tf.estimator.RunConfig(train_distribute=STRATEGY, tf_random_seed=1),
    params={"network": "Normed", "units": 5},
)
estimator.train(forever, max_steps=STEPS)
RESULT = dict(estimator.evaluate(data))
for name in estimator.get_variable_names():
    RESULT[name] = np.sum(np.abs(estimator.get_variable_value(name)))
