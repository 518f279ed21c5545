"""What the chief of workers that take steps of their own sees of several trainings.

TF_CONFIG=... python apart_child.py MODEL_DIR RESULT.json
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
from tfmigrate.runtime.strategies import ParameterServerStrategy
from tfmigrate.runtime.vocabulary import EstimatorSpec

v1 = tf.compat.v1
folder, result = Path(sys.argv[1]), sys.argv[2]
WORDS = ["a", "b", "c", "d", "e"]
places: dict[str, str] = {}


def words(batches: int) -> tf.data.Dataset:
    picked = [WORDS[(3 * n) % 5] for n in range(4 * batches)]
    values = [[float(WORDS.index(word)), 1.0] for word in picked]
    data = tf.data.Dataset.from_tensor_slices((np.array(picked), np.float32(values)))
    return data.batch(4)


def endless() -> tf.data.Dataset:
    return words(5).repeat()


def share(input_context: Any) -> tf.data.Dataset:
    """Of eight batches five for the first worker and three for the second."""
    here = input_context.input_pipeline_id
    assert input_context.num_input_pipelines == 2
    return words(8).skip(5 * here).take(5 - 2 * here)


def model_fn(features: Any, labels: Any, mode: str, params: Any) -> EstimatorSpec:
    """Rows of a table that servers share, found by a table of words."""
    numbers = tf.lookup.StaticVocabularyTable(
        tf.lookup.KeyValueTensorInitializer(WORDS, range(5), value_dtype=tf.int64), 1
    )
    rows = v1.get_variable("rows", [6, 2], initializer=v1.zeros_initializer())
    found = tf.nn.embedding_lookup(rows, numbers.lookup(features))
    large = v1.get_variable("large", [400, 400], initializer=v1.ones_initializer())
    work = large
    for _ in range(params["work"]):
        work = tf.tanh(tf.matmul(work, work))
    loss = v1.losses.mean_squared_error(labels, found)
    loss += 0 * tf.reduce_mean(work)
    if mode == "eval":
        return EstimatorSpec(mode, loss=loss)
    optimizer = v1.train.MomentumOptimizer(0.5, 0.5)
    train_op = optimizer.minimize(loss, v1.train.get_global_step())
    places.update({v.op.name: v.device for v in v1.global_variables()})
    return EstimatorSpec(mode, loss=loss, train_op=train_op)


class Sees(SessionRunHook):  # type: ignore[misc]
    """Notes the steps that a hook sees."""

    def __init__(self) -> None:
        self.steps: list[int] = []

    def before_run(self, context: Any) -> Any:
        return SessionRunArgs(v1.train.get_global_step())

    def after_run(self, context: Any, values: Any) -> None:
        self.steps.append(int(values.results))


def estimator(name: str, work: int = 0) -> Estimator:
    strategy = ParameterServerStrategy(
        variable_partitioner=tf.distribute.experimental.partitioners.FixedShardsPartitioner(
            2
        )
    )
    config = RunConfig(
        model_dir=folder / name, train_distribute=strategy, save_checkpoints_steps=60
    )
    return Estimator(model_fn, config=config, params={"work": work})


def saved(name: str) -> dict[str, Any]:
    return {
        "step": int(tf.train.load_variable(str(folder / name), "global_step")),
        "rows": tf.train.load_variable(str(folder / name), "rows").tolist(),
    }


def main() -> None:
    told: dict[str, Any] = {}
    one = estimator("words").train(endless, max_steps=150)
    told["words"] = saved("words")
    told["shapes"] = dict(tf.train.list_variables(str(folder / "words")))
    told["places"] = places
    told["loss"] = float(one.evaluate(lambda: words(5))["loss"])
    sees = Sees()
    one.train(endless, steps=9, hooks=[sees])
    told["hook saw"] = sees.steps
    estimator("share").train(share)
    told["share"] = saved("share")["step"]
    estimator("share with a hook").train(share, hooks=[Sees()])
    told["share with a hook"] = saved("share with a hook")["step"]
    (folder / "now").touch()  # a worker is killed
    estimator("killed", work=30).train(endless, max_steps=600)
    told["killed"] = saved("killed")
    Path(result).write_text(json.dumps(told))


main()
