"""What one of two workers sees of several trainings on the loop module.

TF_CONFIG=... python workers_child.py MODEL_DIR RESULT.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tfmigrate.runtime.config import RunConfig
from tfmigrate.runtime.estimator import Estimator
from tfmigrate.runtime.hooks import SessionRunArgs, SessionRunHook
from tfmigrate.runtime.strategies import (
    CollectiveAllReduceStrategy,
    MultiWorkerMirroredStrategy,
)
from tfmigrate.runtime.vocabulary import EstimatorSpec

v1 = tf.compat.v1
folder, result = Path(sys.argv[1]), sys.argv[2]
told: dict[str, Any] = {}


def data(examples: int) -> tf.data.Dataset:
    x = np.cos(np.arange(examples * 3, dtype=np.float32)).reshape(-1, 3)
    return tf.data.Dataset.from_tensor_slices((x, x.sum(1, keepdims=True)))


def share(input_context: Any) -> tf.data.Dataset:
    """The batches of this worker, who take turns; the first has two more."""
    told["context"] = [
        input_context.num_input_pipelines,
        input_context.input_pipeline_id,
        input_context.num_replicas_in_sync,
    ]
    here = input_context.input_pipeline_id
    own = data(40).batch(4).shard(2, here)
    return own.take(5 - 2 * here)


def model_fn(features: Any, labels: Any, mode: str) -> EstimatorSpec:
    weights = v1.get_variable("w", [3, 1], initializer=v1.zeros_initializer())
    loss = v1.losses.mean_squared_error(labels, tf.matmul(features, weights))
    optimizer = v1.train.GradientDescentOptimizer(0.1)
    train_op = optimizer.minimize(loss, v1.train.get_global_step())
    return EstimatorSpec(mode, loss=loss, train_op=train_op)


class StopsOne(SessionRunHook):  # type: ignore[misc]
    """Lets one worker ask for the end."""

    def __init__(self, worker: int, after: int) -> None:
        self.left = after if told["context"][1] == worker else 1000

    def before_run(self, run_context: Any) -> Any:
        return SessionRunArgs(v1.train.get_global_step())

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.left -= 1
        if not self.left:
            run_context.request_stop()


class RaisesInOne(StopsOne):
    """Lets one worker leave before a step, which the other has begun."""

    def before_run(self, run_context: Any) -> Any:
        if self.left == 1:
            raise StopIteration
        return super().before_run(run_context)


def state(estimator: Estimator) -> list[Any]:
    step = int(estimator.get_variable_value("global_step"))
    return [step, estimator.get_variable_value("w").ravel().tolist()]


config = RunConfig(
    train_distribute=CollectiveAllReduceStrategy(), save_checkpoints_steps=2
)
again = MultiWorkerMirroredStrategy() is config.train_distribute
told["one strategy"] = again
estimator = Estimator(model_fn, str(folder / "ends"), config)
estimator.train(share)
told["the shortest share"] = state(estimator)
estimator.train(share, steps=1)
told["one more step"] = state(estimator)
estimator.train(lambda: data(40).batch(4).repeat(), hooks=[StopsOne(1, 3)])
told["stopped by one"] = state(estimator)
estimator.train(lambda: data(40).batch(4).repeat(), hooks=[RaisesInOne(1, 3)])
told["left by one"] = state(estimator)
# No hook looks at single steps, nobody names a strategy, and seconds become steps.
RunConfig.chosen = staticmethod(MultiWorkerMirroredStrategy)
many = Estimator(model_fn, str(folder / "many"), RunConfig(save_checkpoints_secs=600))
many.train(lambda: data(40).batch(4).repeat(), max_steps=230)
told["many"] = state(many)
many.train(lambda: data(40).batch(4).repeat(), max_steps=230)  # Nothing is left to do.
told["figures"] = float(many.evaluate(lambda: data(40).batch(4))["loss"])
told["saved"] = sorted(
    path.name for path in folder.glob("*/*") if not path.name.startswith("events")
)
Path(result).write_text(json.dumps(told))
