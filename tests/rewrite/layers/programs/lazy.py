"""A model of properties that are computed when they are first read; its class makes it."""

import functools

import numpy as np
import tensorflow as tf


def start(shape, dtype=None, partition_info=None):
    size = int(np.prod(shape))
    values = np.sin(np.arange(size) + len(shape)) / 2
    return tf.constant(values.reshape(shape).astype("float32"))


def with_or_without(decorator):
    """A decorator that may be given arguments, or none."""

    @functools.wraps(decorator)
    def outer(*given, **options):
        if len(given) == 1 and not options and callable(given[0]):
            return decorator(given[0])
        return lambda function: decorator(function, *given, **options)

    return outer


@with_or_without
def in_scope(function, scope=None, *more, **options):
    name = scope or function.__name__
    attribute = "_once_{}".format(function.__name__)

    @property
    @functools.wraps(function)
    def read(self):
        if not hasattr(self, attribute):
            with tf.variable_scope(name, *more, **options):
                setattr(self, attribute, function(self))
        return getattr(self, attribute)

    return read


class Base(object):
    def __init__(self, features, labels, mode, params):
        self.x, self.labels = features["x"], labels
        self.is_training = mode == tf.estimator.ModeKeys.TRAIN
        self.params = params
        self._mixed = None

    @classmethod
    def model_fn(cls, features, labels, mode, params):
        model = cls(features, labels, mode, params)
        if mode == tf.estimator.ModeKeys.EVAL:
            return tf.estimator.EstimatorSpec(mode, loss=model.loss)
        return tf.estimator.EstimatorSpec(
            mode, loss=model.loss, train_op=model.optimize
        )

    @property
    def hidden(self):
        raise NotImplementedError

    @property
    def mixed(self):
        if self._mixed is None:
            net = tf.layers.dense(self.hidden, 4, name="mix", kernel_initializer=start)
            self._mixed = tf.nn.tanh(net + self.scale)
        return self._mixed

    @in_scope("scaled", reuse=tf.AUTO_REUSE)
    def scale(self):
        return tf.get_variable("scale", [4], initializer=tf.ones_initializer())

    @in_scope
    def out(self):
        return tf.layers.dense(self.mixed, 1, kernel_initializer=start)

    @in_scope
    def loss(self):
        loss = tf.losses.mean_squared_error(self.labels, self.out)
        loss += tf.losses.get_regularization_loss()
        return loss + 0.01 * tf.reduce_sum(tf.square(self.scale))

    @in_scope("trained")
    def optimize(self):
        updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        optimizer = tf.train.AdagradOptimizer(self.params["rate"])
        with tf.control_dependencies(updates):
            return optimizer.minimize(self.loss, tf.train.get_global_step())


class Net(Base):
    @in_scope
    def hidden(self):
        net = tf.layers.dense(
            self.x,
            3,
            tf.nn.tanh,
            kernel_initializer=start,
            kernel_regularizer=tf.contrib.layers.l2_regularizer(0.1),
        )
        return tf.layers.batch_normalization(net, training=self.is_training)


def data():
    draw = np.random.RandomState(3)
    x = draw.normal(size=(32, 4)).astype("float32")
    y = x[:, :1] - 2.0 * x[:, 1:2]
    return tf.data.Dataset.from_tensor_slices(({"x": x}, y)).batch(8)


def forever():
    return data().repeat()


estimator = tf.estimator.Estimator(
    Net.model_fn,
    model_dir=DIRECTORY,
    config=tf.estimator.RunConfig(train_distribute=STRATEGY, tf_random_seed=1),
    params={"rate": 0.1},
)
estimator.train(forever, max_steps=STEPS)
RESULT = dict(estimator.evaluate(data))
for name in estimator.get_variable_names():
    RESULT[name] = np.sum(np.abs(estimator.get_variable_value(name)))
