"""Fifty cycles in one process keep their memory; 3 GB of data train."""

from __future__ import annotations

import gc
import resource
import sys
from pathlib import Path

import numpy as np
import tfmigrate.compat.v1 as tf

tf.logging.set_verbosity(tf.logging.ERROR)


def model_fn(features, labels, mode):
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=features)
    w = tf.get_variable("w", [features.shape[-1], 1])
    loss = tf.reduce_mean(tf.square(tf.matmul(features, w) - labels))
    train_op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(
        mode,
        loss=loss,
        train_op=train_op,
        eval_metric_ops={"l": tf.metrics.mean(labels)},
    )


def resident() -> float:
    """Megabytes this process holds now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


x = np.random.RandomState(0).rand(2000, 400).astype(np.float32)
y = x[:, :1]


def input_fn():
    return tf.data.Dataset.from_tensor_slices((x, y)).batch(100)


estimator = tf.estimator.Estimator(
    model_fn,
    model_dir=sys.argv[1] + "/cycles",
    config=tf.estimator.RunConfig(keep_checkpoint_max=2),
)
seen = []
for cycle in range(50):
    estimator.train(input_fn, steps=2)
    estimator.evaluate(input_fn, steps=2)
    next(estimator.predict(input_fn))
    if cycle % 10 == 9:
        gc.collect()
        seen.append(resident())
print("resident MB after 10, 20, 30, 40, 50 cycles:", [round(m) for m in seen])
# 3.2 MB of data per graph: one graph kept alive per cycle would show.
assert seen[-1] - seen[0] < 60, seen

big = np.zeros((3 * 2**30 // 4 // 1024 + 1, 1024), np.float32)
assert big.nbytes > 3 * 2**30
estimator = tf.estimator.Estimator(model_fn, model_dir=sys.argv[1] + "/big")
estimator.train(
    lambda: tf.data.Dataset.from_tensor_slices((big, big[:, :1])).batch(64), steps=3
)
size = sum(f.stat().st_size for f in Path(sys.argv[1], "big").rglob("*") if f.is_file())
assert size < 3_000_000, size
print("memory ok, model_dir of 3 GB data:", size)
