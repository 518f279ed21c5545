"""Variables that start from a checkpoint: by name, by scope and by object."""

import os
import tempfile

import numpy as np
import tensorflow as tf


def net(x):
    with tf.variable_scope("body"):
        w = tf.get_variable("w", [5, 4], initializer=tf.zeros_initializer())
        b = tf.get_variable("b", [4], initializer=tf.zeros_initializer())
        x = tf.nn.tanh(tf.matmul(x, w) + b)
    with tf.variable_scope("head"):
        scale = tf.get_variable("scale", [4], initializer=tf.ones_initializer())
        out = tf.layers.dense(
            x * scale, 1, kernel_initializer=tf.ones_initializer(), name="out"
        )
    return out, scale


def write_start(folder):
    """A checkpoint with other names, as an older program left it."""
    rng = np.random.RandomState(2)
    shapes = {"old/w": [5, 4], "old/b": [4], "factor": [4], "head/out/kernel": [4, 1]}
    with tf.Graph().as_default():
        for name, shape in sorted(shapes.items()):
            tf.get_variable(name, initializer=rng.normal(size=shape).astype("float32"))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return tf.train.Saver().save(session, os.path.join(folder, "start.ckpt"))


def model_fn(features, labels, mode, params):
    y, scale = net(features)
    start = params["start"]
    scaffold = None
    if start:
        names = [name for name, _ in tf.train.list_variables(start)]
        tf.train.init_from_checkpoint(start, {"old/": "body/", "factor": scale})
        if params["late"]:

            def scaffold_fn():
                same = {n: n for n in names if n.startswith("head/")}
                tf.train.init_from_checkpoint(start, same)
                return tf.train.Scaffold()

            scaffold = scaffold_fn()
        else:
            tf.train.init_from_checkpoint(
                start, {"head/out/kernel": "head/out/kernel"}
            )
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(
            mode, predictions={"y": y}, scaffold=scaffold
        )
    loss = tf.reduce_mean((labels - y) ** 2)
    variables = tf.trainable_variables()
    gradients = tf.gradients(loss, variables)
    step = tf.train.get_global_step()
    optimizer = tf.train.AdamOptimizer(0.05)
    train_op = optimizer.apply_gradients(zip(gradients, variables), step)
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, scaffold=scaffold
    )


def data(count):
    rng = np.random.RandomState(1)
    x = rng.normal(size=(count, 5)).astype("float32")
    return tf.data.Dataset.from_tensor_slices((x, x[:, :1] - x[:, 1:2]))


MODEL_DIR = os.environ.get("MODEL_DIR") or tempfile.mkdtemp()
STEPS = int(os.environ.get("STEPS", "12"))
START = write_start(tempfile.mkdtemp())
strategy = tf.distribute.MirroredStrategy()
config = tf.estimator.RunConfig(train_distribute=strategy)
estimator = tf.estimator.Estimator(
    model_fn, MODEL_DIR, config, params={"start": START, "late": STEPS != 12}
)
estimator.train(lambda: data(60).repeat().batch(12), steps=STEPS)
RESULT = estimator.evaluate(lambda: data(40).batch(12))
PREDICTED = [p["y"] for p in estimator.predict(lambda: data(10).batch(4))]
