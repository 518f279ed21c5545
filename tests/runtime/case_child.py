"""Runs cases of fixtures/oracle/cases on the loop module, from their recorded weights.

python case_child.py OUT_FOLDER CASE:REPLICAS...
"""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import tensorflow

HERE = Path(__file__).parent
ORACLE = HERE.parents[1] / "fixtures" / "oracle"
sys.path[:0] = [str(HERE), str(ORACLE / "cases")]
v1 = tensorflow.compat.v1


class Recorder(v1.train.SessionRunHook):
    """Starts from given weights and reads the loss of every step."""

    def __init__(self, weights: dict[str, Any]) -> None:
        self.weights = weights
        self.losses: list[float] = []

    def begin(self) -> None:
        self.loss = v1.get_collection(v1.GraphKeys.LOSSES)[-1]
        self.variables = {v.name.split(":")[0]: v for v in v1.global_variables()}

    def after_create_session(self, session: Any, coord: Any) -> None:
        with tensorflow.init_scope():
            for name, value in self.weights.items():
                self.variables[name].assign(value)

    def before_run(self, run_context: Any) -> Any:
        return v1.train.SessionRunArgs(self.loss)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.losses.append(float(run_values.results))


def run(tf: Any, case: str, replicas: int, out: Path) -> None:
    from common import DEFAULT_BATCH

    common: Any = importlib.import_module("common")
    module = importlib.import_module(case)
    common.BATCH = DEFAULT_BATCH
    model_fn, train_input_fn, eval_input_fn = module.build(tf)
    strategy = None
    if replicas > 1:
        strategy = tensorflow.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with np.load(ORACLE / "model_fn" / case / "tf115-r1/initial_weights.npz") as stored:
        weights = {key.partition(":")[2]: stored[key] for key in stored.files}
    recorder = Recorder(weights)
    estimator = tf.estimator.Estimator(
        model_fn,
        model_dir=tempfile.mkdtemp(),
        params=getattr(module, "PARAMS", None),
        config=tf.estimator.RunConfig(tf_random_seed=1, train_distribute=strategy),
    )
    estimator.train(train_input_fn, hooks=[recorder], steps=50)
    evaluated = estimator.evaluate(eval_input_fn)
    final = {name: estimator.get_variable_value(name) for name in weights}
    np.savez(out / f"{case}-{replicas}.npz", **final)
    report = {
        "losses": recorder.losses,
        "evaluate": {name: float(value) for name, value in evaluated.items()},
        "names": estimator.get_variable_names(),
    }
    (out / f"{case}-{replicas}.json").write_text(json.dumps(report))


def main(out: Path, cases: list[str]) -> None:
    cpu = tensorflow.config.list_physical_devices("CPU")[0]
    tensorflow.config.set_logical_device_configuration(
        cpu, [tensorflow.config.LogicalDeviceConfiguration()] * 2
    )
    from legacy_names import LegacyTensorFlow

    tf = LegacyTensorFlow()
    tf.disable_v2_tensorshape()
    tf.logging.set_verbosity(tf.logging.ERROR)
    for label in cases:
        case, _, replicas = label.partition(":")
        print(label, flush=True)
        try:
            run(tf, case, int(replicas), out)
        except Exception:
            (out / f"{case}-{replicas}.error").write_text(traceback.format_exc())


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
