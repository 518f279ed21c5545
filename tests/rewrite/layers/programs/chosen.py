"""Networks that are chosen by a lambda, options handed on by `**`, own normalizers."""

import numpy as np
import tensorflow as tf

slim = tf.contrib.slim


def start(shape, dtype=None, partition_info=None):
    size = int(np.prod(shape))
    values = np.sin(np.arange(size) + len(shape)) / 2
    return tf.constant(values.reshape(shape).astype("float32"))


def block(x, size, rate=0.5, **options):
    """A layer with options of its caller's, and one that it adds."""
    with tf.variable_scope("block"):
        x = tf.layers.dense(x, size, kernel_initializer=start, **options)
        return rate * tf.layers.dense(x, 3, name="out", kernel_initializer=start)


def small(x, is_training, sizes):
    def batch_norm(x):
        return tf.layers.batch_normalization(
            x, momentum=0.9, training=is_training, name="BatchNorm"
        )

    options = {"activation": tf.nn.tanh, "use_bias": False}
    kept = []
    with tf.variable_scope("small"):
        with slim.arg_scope(
            [slim.fully_connected],
            normalizer_fn=batch_norm,
            weights_initializer=start,
        ):
            x = slim.fully_connected(x, 4, scope="first")
            for number, size in enumerate(sizes):
                with tf.variable_scope("step_%d" % number):
                    x = slim.fully_connected(x, size, scope="within")
                    kept.append(size)
        for number in reversed(range(len(sizes))):
            with tf.variable_scope("back_%d" % number):
                x = block(x, kept[number], **options)
        return tf.layers.dense(x, 2, kernel_initializer=start, **options)


def large(x, sizes):
    return tf.layers.dense(small(x, True, sizes), 9, name="large")


def model_fn(features, labels, mode, params):
    is_training = mode == tf.estimator.ModeKeys.TRAIN
    if params["net"] == "small":
        net = lambda x: small(x, is_training, params["sizes"])
    else:
        net = lambda x: large(x, params["sizes"])
    seen = net(features["x"])
    out = tf.layers.dense(seen, 1, kernel_initializer=start)
    loss = tf.losses.mean_squared_error(labels, out)
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss)
    with tf.control_dependencies(tf.get_collection(tf.GraphKeys.UPDATE_OPS)):
        train_op = tf.train.MomentumOptimizer(0.02, 0.9).minimize(
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
    params={"net": "small", "sizes": [3, 2]},
)
estimator.train(forever, max_steps=STEPS)
RESULT = dict(estimator.evaluate(data))
for name in estimator.get_variable_names():
    RESULT[name] = np.sum(np.abs(estimator.get_variable_value(name)))
