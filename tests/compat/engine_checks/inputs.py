"""Every form of input function, in one process. Run by test_engine.py."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import tensorflow
import tfmigrate.compat.v1 as tf
from tfmigrate.compat.engine import devices

if "graph" in sys.argv:
    tensorflow.compat.v1.disable_v2_behavior()
devices.configure_replicas(4)
tf.logging.set_verbosity(tf.logging.ERROR)

X = np.arange(10, dtype=np.float32)
Y = X * 10


def model_fn(features, labels, mode, params):
    if isinstance(features, dict):
        if isinstance(features["x"], tf.SparseTensor):
            x = tf.sparse.reduce_sum(features["x"], axis=1)
            x = tf.reshape(x, [-1])
        else:
            x = features["x"]
    else:
        x = features
    x = tf.cast(x, tf.float32)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"x": x, "twice": 2 * x})
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(x + w)
    metrics = {"x": tf.metrics.mean(x), "rows": tf.metrics.mean(tf.ones_like(x))}
    if labels is not None:
        metrics["y"] = tf.metrics.mean(labels)
    train_op = tf.train.GradientDescentOptimizer(1.0).minimize(
        loss, global_step=tf.train.get_global_step()
    )
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops=metrics
    )


def make(config=None, **params):
    return tf.estimator.Estimator(model_fn, config=config, params=params)


def check(name, input_fn, *, steps=3, labels=True, x=4.5):
    estimator = make(batch=4)
    estimator.train(input_fn)
    assert estimator.get_variable_value("global_step") == steps, name
    results = estimator.evaluate(input_fn)
    assert np.isclose(results["x"], x), (name, results)
    if labels:
        assert np.isclose(results["y"], 10 * x), (name, results)
    predictions = [p["x"] for p in estimator.predict(input_fn)]
    assert np.isclose(np.mean(predictions), x), (name, predictions)
    print("ok", name)


def dataset():
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)


check("Dataset", dataset)


def of_tensorflow_2():
    data = tensorflow.data.Dataset.from_tensor_slices(({"x": X}, Y))
    return data.batch(4)


check("DatasetV2 of dicts", of_tensorflow_2)


def transformed():
    features, labels = tf.data.make_one_shot_iterator(dataset()).get_next()
    return {"x": features + 1 - 1}, labels


check("ops after get_next", transformed)


def initializable():
    iterator = dataset().make_initializable_iterator()
    tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
    return iterator.get_next()


check("initializable iterator", initializable)
check("features only", lambda: dataset().map(lambda x, y: x), labels=False)


class Source:
    def input_fn(self, params, mode, config):
        assert mode in ("train", "eval", "infer")
        assert config.model_dir
        return tf.data.Dataset.from_tensor_slices((X, Y)).batch(params["batch"])


check("bound method of params, mode and config", Source().input_fn)


def queued():
    x, y = tf.train.slice_input_producer([X, Y], num_epochs=1, shuffle=False)
    return tf.train.batch([x, y], 4, allow_smaller_final_batch=True)


check("queue", queued)


def with_table():
    words = tf.constant(["a", "b", "c"])
    table = tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(words, tf.range(3, dtype=tf.int64)), -1
    )
    names = tf.constant(["c", "a", "b", "b"])
    data = tf.data.Dataset.from_tensor_slices(names).batch(2)
    return data.map(
        lambda n: (table.lookup(n), tf.cast(table.lookup(n) * 10, tf.float32))
    )


check("table", with_table, steps=2, x=1.0)


def sparse():
    def to_sparse(x, y):
        count = tf.size(x, out_type=tf.int64)
        indices = tf.stack([tf.range(count), tf.zeros_like(tf.range(count))], axis=1)
        shape = tf.stack([count, tf.constant(3, tf.int64)])
        return {"x": tf.SparseTensor(indices, x, shape)}, y

    return dataset().map(to_sparse)


check("sparse features", sparse)

numpy_input_fn = tf.estimator.inputs.numpy_input_fn
check(
    "numpy_input_fn, dicts",
    lambda: (lambda rows, labels: (rows, labels["y"]))(
        *numpy_input_fn({"x": X}, {"y": Y}, batch_size=4, shuffle=False)()
    ),
)
check(
    "numpy_input_fn over epochs, shuffled",
    numpy_input_fn(X, Y, batch_size=4, num_epochs=2, shuffle=True),
    steps=5,
)

import pandas as pd  # noqa: E402

frame = pd.DataFrame({"x": X, "name": [f"n{i}" for i in range(10)]})
series = pd.Series(Y)
check(
    "pandas_input_fn",
    tf.estimator.inputs.pandas_input_fn(frame, series, batch_size=4, shuffle=False),
)

# With replicas: successive batches, floor(batches / replicas) training steps,
# and an evaluation that counts every row, whatever the last step holds: too few
# batches for all replicas, as many, some left over, the last one whole or not.
for replicas, sizes in ((1, (18,)), (2, (4, 14, 18)), (4, (4, 14, 16, 18, 22))):
    strategy = tf.contrib.distribute.MirroredStrategy(num_gpus=replicas)
    config = tf.estimator.RunConfig(train_distribute=strategy, eval_distribute=strategy)
    for rows in sizes:
        x = np.arange(rows, dtype=np.float32)
        contexts = []

        def input_fn(input_context=None, *, x=x, contexts=contexts):
            contexts.append(input_context)
            return tf.data.Dataset.from_tensor_slices((x, x * 10)).batch(4)

        batches = -(-rows // 4)
        estimator = make(config)
        estimator.train(input_fn)
        if batches >= replicas:
            assert estimator.get_variable_value("global_step") == batches // replicas
        assert contexts[0].num_replicas_in_sync == replicas
        results = estimator.evaluate(input_fn)
        assert np.isclose(results["x"], x.mean()), (replicas, rows, results)
        assert np.isclose(results["y"], 10 * x.mean())
        if rows == 18:
            assert len(list(estimator.predict(input_fn))) == rows
            queue_like = numpy_input_fn({"x": x}, x * 10, batch_size=4, shuffle=False)
            assert np.isclose(estimator.evaluate(queue_like)["x"], x.mean())
    print("ok", replicas, "replicas")

config = tf.estimator.RunConfig(
    train_distribute=tf.contrib.distribute.MirroredStrategy(num_gpus=2),
    eval_distribute=tf.contrib.distribute.MirroredStrategy(num_gpus=2),
)
results = make(config).evaluate(sparse)
assert np.isclose(results["x"], 4.5), results

# What has no data says so: training by a warning, as the real one does.
make().train(lambda: dataset().take(0))
with pytest.raises(ValueError, match="input is empty or misspecified"):
    make().evaluate(lambda: dataset().take(0))

# Large arrays stay out of the graph, whatever way they take.
big = np.random.RandomState(0).rand(300_000).astype(np.float32)
ways = {
    "slices": lambda: tf.data.Dataset.from_tensor_slices((big, big)).batch(1000),
    "one-shot": lambda: (
        tf.data.Dataset.from_tensor_slices((big, big))
        .batch(1000)
        .make_one_shot_iterator()
        .get_next()
    ),
    "captured": lambda: tf.data.Dataset.range(3).map(
        lambda i: (tf.gather(big, tf.range(1000) + tf.cast(i, tf.int32)),) * 2
    ),
    "numpy_input_fn": numpy_input_fn(big, big, batch_size=1000, shuffle=True),
    "strings": lambda: (
        tf.data.Dataset.from_tensor_slices(
            np.array([f"{i:06d}" for i in range(60_000)])
        )
        .batch(1000)
        .map(lambda s: (tf.strings.to_number(s),) * 2)
    ),
    "constant": lambda: (lambda x: (x[:1000], x[:1000]))(tf.constant(big)),
    "queue": lambda: tf.train.batch(
        tf.train.slice_input_producer([big, big], shuffle=False), 100
    ),
}
for name, input_fn in ways.items():
    with tempfile.TemporaryDirectory() as model_dir:
        estimator = make(tf.estimator.RunConfig(model_dir=model_dir))
        estimator.train(input_fn, steps=2)
        size = sum(f.stat().st_size for f in Path(model_dir).rglob("*") if f.is_file())
        assert size < 900_000, (name, size)
        estimator.evaluate(input_fn, steps=2)
    print("ok large array,", name, size)
print("all inputs ok")
