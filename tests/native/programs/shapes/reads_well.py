"""What a reader of the outcome would ask about: helpers, scopes, flags, leftovers."""

import tempfile

import numpy as np
import tensorflow as tf

X = np.cos(np.arange(96.0)).reshape(12, 8).astype(np.float32)
Y = X.sum(1, keepdims=True)


def layer(x, n_in, n_out, name):
    with tf.variable_scope(name):
        w = tf.get_variable("w", [n_in, n_out], initializer=ramp)
        tf.summary.histogram("w", w)
        return tf.matmul(x, w)


def tower(x, units, scope):
    with tf.variable_scope(scope):
        out = tf.layers.dense(x, units, kernel_initializer=ramp)
        return tf.layers.dense(tf.nn.relu(out), 1, kernel_initializer=ramp)


class Net:
    def __init__(self, sizes):
        self.sizes = sizes

    def dense(self, x, units, name):
        return tf.layers.dense(x, units, name=name, kernel_initializer=ramp)

    def encoded(self, x):
        x = self.dense(x, self.sizes[0], "first")
        return self.dense(x, self.sizes[1] * 2, "second")

    def rescaled(self, x, reuse=None):
        return tf.sigmoid(x, name="scaled") if reuse else x

    def model_fn(self, features, labels, mode, params):
        training = mode == tf.estimator.ModeKeys.TRAIN
        x = features["x"]
        for i, size in enumerate(params["hidden"]):
            h = tf.layers.dense(x, size, kernel_initializer=ramp)
            x = tf.tanh(tf.layers.flatten(h))
        x = tf.tanh(layer(layer(x, 4, 4, "h1"), 4, 3, "h2"))
        x = tf.contrib.layers.dropout(
            x, keep_prob=1 - params["rate"], is_training=training
        )
        start = self.encoded(x)
        sums = {"left": tower(start, 3, "left"), "right": tower(start, 2, "right")}
        net = tf.nn.relu(
            tf.layers.batch_normalization(
                tf.layers.dense(sums["left"] - sums["right"], 2, kernel_initializer=ramp),
                training=False,
            )
        )
        out = self.rescaled(tf.layers.dense(net, 1, kernel_initializer=ramp))
        if mode == tf.estimator.ModeKeys.PREDICT:
            predictions = {"sr": out,
                           "positive": tf.where(out > 0, tf.abs(out), tf.zeros_like(out))}
            return tf.estimator.EstimatorSpec(mode, predictions=predictions)
        loss = tf.reduce_mean(tf.square(out - labels)) + 1e-3 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables()
                                                                        if "bias" not in v.name])
        train_op = tf.train.GradientDescentOptimizer(0.001).minimize(
            loss, tf.train.get_global_step()
        )
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def input_fn(mode):
    is_training = mode == tf.estimator.ModeKeys.TRAIN

    data = tf.data.Dataset.from_tensor_slices(({"x": X}, Y))
    if is_training:
        data = data.repeat(4)
    return data.batch(4)


def session_config():
    return tf.ConfigProto(device_filters=["/job:ps"])


config = tf.estimator.RunConfig(session_config=session_config(), tf_random_seed=1)
estimator = tf.estimator.Estimator(
    Net([4, 2]).model_fn, tempfile.mkdtemp(), config, {"hidden": [8, 4], "rate": 0.0}
)
estimator.train(lambda: input_fn(tf.estimator.ModeKeys.TRAIN))
found = [
    float(one["positive"][0])
    for one in estimator.predict(lambda: input_fn(tf.estimator.ModeKeys.PREDICT))
]
RESULT = dict(total=sum(found), **estimator.evaluate(lambda: input_fn("eval")))
