"""N replicas of a batch train like one replica of N batches; and Keras details."""

from __future__ import annotations

import functools
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import tensorflow
import tf_keras
import tfmigrate.compat.v1 as tf
from tfmigrate.compat import v2
from tfmigrate.compat.engine import devices

# Without stand-ins a request for GPUs that are not there names the way out.
if not tensorflow.config.list_physical_devices("GPU"):
    with pytest.raises(ValueError, match="--replicas 2"):
        tf.contrib.distribute.MirroredStrategy(num_gpus=2)

if "graph" in sys.argv:
    tensorflow.compat.v1.disable_v2_behavior()
devices.configure_replicas(4)
with pytest.raises(ValueError, match="--replicas 5"):
    tf.contrib.distribute.MirroredStrategy(num_gpus=5)
tf.logging.set_verbosity(tf.logging.ERROR)

rng = np.random.RandomState(3)
X = rng.rand(160, 5).astype(np.float32)
Y = (X @ rng.rand(5, 1)).astype(np.float32)


class Losses(tf.train.SessionRunHook):
    def __init__(self):
        self.losses = []

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(tf.get_collection(tf.GraphKeys.LOSSES)[-1])

    def after_run(self, run_context, run_values):
        self.losses.append(float(run_values.results))


def input_fn(batch):
    return lambda: tf.data.Dataset.from_tensor_slices((X, Y)).batch(batch)


def model_fn(features, labels, mode):
    net = tf.layers.dense(
        features, 4, tf.nn.tanh, kernel_initializer=tf.constant_initializer(0.3)
    )
    net = tf.layers.batch_normalization(
        net, momentum=0.9, training=False, name="frozen_norm"
    )
    net = tf.layers.dense(net, 1, kernel_initializer=tf.constant_initializer(0.2))
    loss = tf.losses.mean_squared_error(labels, net)
    optimizer = tf.train.MomentumOptimizer(0.05, 0.9)
    return tf.estimator.EstimatorSpec(
        mode,
        loss=loss,
        train_op=optimizer.minimize(loss, tf.train.get_global_step()),
        eval_metric_ops={"mae": tf.metrics.mean_absolute_error(labels, net)},
    )


def keras_model(optimizer, keras=tf.keras):
    start = keras.initializers.Constant(0.3)
    model = keras.Sequential(
        [
            keras.layers.Dense(
                4,
                activation="tanh",
                kernel_initializer=start,
                input_shape=(5,),
                name="hidden",
            ),
            keras.layers.Dense(
                1,
                kernel_initializer=start,
                kernel_regularizer=keras.regularizers.l2(0.01),
                name="output",
            ),
        ]
    )
    model.compile(optimizer=optimizer, loss="mse", metrics=["mae"])
    return model


@functools.cache
def outcome(make, strategy, batch):
    config = tf.estimator.RunConfig(
        model_dir=tempfile.mkdtemp(),
        train_distribute=strategy,
        eval_distribute=strategy,
    )
    estimator = make(config)
    hook = Losses()
    estimator.train(input_fn(batch), hooks=[hook])
    names = estimator.get_variable_names()
    values = {n: estimator.get_variable_value(n) for n in names}
    return hook.losses, values, estimator.evaluate(input_fn(batch))


def same(a, b, *, loss_factor=1.0):
    np.testing.assert_allclose(a[0], np.array(b[0]) * loss_factor, rtol=3e-6)
    # The Keras optimizers of real TF 1.15 save the slots of every replica, too.
    names = {n for n in a[1] if "/replica_" not in n}
    assert names == set(b[1]), names ^ set(b[1])
    for name, value in b[1].items():
        np.testing.assert_allclose(
            a[1][name], value, rtol=2e-5, atol=2e-6, err_msg=name
        )
    assert set(a[2]) == set(b[2])
    assert a[2]["loss"] == pytest.approx(b[2]["loss"] * loss_factor, rel=1e-5)
    for name in set(b[2]) - {"loss"}:
        assert a[2][name] == pytest.approx(b[2][name], rel=1e-5), name


def from_model_fn(config):
    return tf.estimator.Estimator(model_fn, config=config)


def from_keras(optimizer):
    return lambda config: tf.keras.estimator.model_to_estimator(
        keras_model(optimizer()), config=config
    )


v1_optimizer = from_keras(lambda: tf.train.MomentumOptimizer(0.05, 0.9))
keras_optimizer = from_keras(lambda: tf.keras.optimizers.SGD(0.05, momentum=0.9))
contrib, core = tf.contrib.distribute, tensorflow.distribute


def check_true_mean():
    for make in (from_model_fn, v1_optimizer, keras_optimizer):
        big = outcome(make, None, 16)
        strategies = [contrib.MirroredStrategy(num_gpus=2)]
        if make is from_model_fn:
            operations = contrib.AllReduceCrossTowerOps("hierarchical_copy")
            strategies += [
                contrib.MirroredStrategy(
                    devices=["/gpu:0", "/gpu:1"], cross_tower_ops=operations
                ),
                contrib.CollectiveAllReduceStrategy(num_gpus_per_worker=2),
            ]
        for strategy in strategies:
            same(outcome(make, strategy, 8), big)
        print("ok true mean")
    four = contrib.MirroredStrategy(num_gpus=4)
    same(outcome(from_model_fn, four, 8), outcome(from_model_fn, None, 32))
    one = contrib.OneDeviceStrategy("/gpu:0")
    same(outcome(from_model_fn, one, 16), outcome(from_model_fn, None, 16))
    print("all true means ok")


if "mean" in sys.argv:
    check_true_mean()
    sys.exit()

# Parameter servers on one machine: variables on the CPU, replicas next to it.
same(
    outcome(from_model_fn, contrib.ParameterServerStrategy(2), 8),
    outcome(from_model_fn, None, 16),
)
same(
    outcome(from_model_fn, contrib.ParameterServerStrategy(), 8),
    outcome(from_model_fn, None, 8),
)

# Core strategies: true mean for model functions; a Keras model's reported loss is
# scaled twice, as in TF 1.15-2.15. The user's strategy object stays as it was.
strategy = core.MirroredStrategy(["/cpu:0", "/cpu:1"])
before = strategy.extended._cross_device_ops
same(outcome(from_model_fn, strategy, 8), outcome(from_model_fn, None, 16))
assert strategy.extended._cross_device_ops is before
for namespace in (tf, v2):
    strategy = namespace.distribute.MirroredStrategy(["/gpu:0", "/gpu:1"])
    assert strategy.num_replicas_in_sync == 2
    same(outcome(from_model_fn, strategy, 8), outcome(from_model_fn, None, 16))
halved = outcome(v1_optimizer, strategy, 8)[0]
full = outcome(v1_optimizer, None, 16)[0]
assert halved[0] == pytest.approx(full[0] / 2, rel=1e-5)
print("ok core strategies")

# The contexts of the tower era, seen from inside of replicas.
seen = []


def towers(features, labels, mode):
    context = contrib.get_tower_context()
    seen.append((context.tower_id, context.num_towers, context.is_single_tower))
    assert context.distribution_strategy.num_towers == 2
    assert contrib.get_cross_tower_context() is None
    contrib.require_tower_context(context)
    w = tf.get_variable("w", [])
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(
        w * w, tf.train.get_global_step()
    )
    return tf.estimator.EstimatorSpec(mode, loss=w * w, train_op=train_op)


config = tf.estimator.RunConfig(
    experimental_distribute=contrib.DistributeConfig(
        train_distribute=contrib.MirroredStrategy(num_gpus=2)
    )
)
tf.estimator.Estimator(towers, config=config).train(input_fn(8), steps=1)
assert sorted(seen) == [(0, 2, False), (1, 2, False)], seen
with pytest.raises(RuntimeError, match="TPU"):
    contrib.TPUStrategy(None, 1)

# The eager Keras model goes on working after it was an Estimator.
if tensorflow.executing_eagerly():
    model = keras_model("adam", tf_keras)
    estimator = v2.keras.estimator.model_to_estimator(model)
    estimator.train(input_fn(8), steps=2)
    model.fit(X, Y, verbose=0)
    assert model.predict(X, verbose=0).shape == (160, 1)
    # Checkpoints of the 2.x function are object-based, and Keras reads them.
    names = estimator.get_variable_names()
    assert any(".ATTRIBUTES/VARIABLE_VALUE" in n for n in names), names
    fresh = keras_model(tf_keras.optimizers.legacy.Adam(), tf_keras)
    fresh.load_weights(estimator.latest_checkpoint()).expect_partial()
    trained = next(estimator.predict(input_fn(8)))
    np.testing.assert_allclose(
        fresh.predict(X[:1], verbose=0)[0], next(iter(trained.values())), rtol=1e-5
    )
    # A resumed Estimator reads them, too.
    estimator.train(input_fn(8), steps=2)
    assert estimator.evaluate(input_fn(8))["global_step"] == 4

    # From a file, with names of metrics and outputs of one's own.
    path = str(Path(tempfile.mkdtemp(), "model.h5"))
    model.save(path)
    estimator = tf.keras.estimator.model_to_estimator(
        keras_model_path=path, metric_names_map={"mae": "distance"}
    )
    assert set(estimator.evaluate(input_fn(8))) == {"loss", "distance", "global_step"}

    # Sample weights travel inside of the features.
    zero = v1_optimizer(tf.estimator.RunConfig(model_dir=tempfile.mkdtemp())).evaluate(
        lambda: tf.data.Dataset.from_tensor_slices(
            ({"features": X, "sample_weights": np.zeros(160, np.float32)}, Y)
        ).batch(8)
    )
    # What is left is the regularisation of four weights of 0.3.
    assert zero["loss"] == pytest.approx(0.01 * 4 * 0.09, rel=1e-4), zero
print("all replicas ok")
