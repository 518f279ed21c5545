"""Trains programs and their rewrites side by side, all in one process.

    python model_fn_runner.py LEGACY_FOLDER REWRITTEN_FOLDER OUTPUT.json

A legacy program runs under tfmigrate.compat; its rewrite starts from the weights
that the legacy program started from: a loop of its own is given them, one on the loop
module goes on from the first checkpoint. Both programs take their directory from the
environment and leave what evaluate gave in ``RESULT``. The losses of all steps (of the
module: the values of the last checkpoint) and the results go to OUTPUT.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import sys
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# Kernels that add up in one order; steps of Adam make more of other last digits.
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"

import numpy as np
import tensorflow as tf
from tfmigrate.compat import v1 as legacy
from tfmigrate.verify.instruments.legacy_matching import Weight, match_weights

Weights = list[tuple[str, Any]]
_IMPORT = re.compile(r"^import tensorflow as tf$", re.MULTILINE)


# What optimizers keep beside each variable, under names below its own.
_SLOTS = ("Adam", "Momentum", "RMSProp")


class Recorder(legacy.train.SessionRunHook):  # type: ignore[name-defined, misc]
    """Notes the weights before the first step and the loss of each."""

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.weights: Weights = []

    def begin(self) -> None:
        trained = legacy.trainable_variables()
        moving = [v for v in legacy.global_variables() if "/moving_" in v.name]
        # With two replicas each variable is there twice.
        found = [v for v in (*trained, *moving) if "/replica_" not in v.name]
        self._names = [v.name for v in found]
        self._reads = [legacy.identity(v) for v in found]
        self._loss = legacy.get_collection(legacy.GraphKeys.LOSSES)[-1]

    def after_create_session(self, session: Any, coord: Any) -> None:
        values = session.run(self._reads)
        self.weights = list(zip(self._names, values, strict=True))

    def before_run(self, context: Any) -> Any:
        return legacy.train.SessionRunArgs(self._loss)

    def after_run(self, context: Any, values: Any) -> None:
        self.losses.append(float(values.results))


def run_legacy(path: Path) -> tuple[list[float], list[Weights], dict[str, float]]:
    """The program on compat: losses, first weights of each Estimator, and figures."""
    recorders: dict[Any, Recorder] = {}
    losses: list[float] = []
    original = legacy.estimator.Estimator.train

    def train(self: Any, *args: Any, **kwargs: Any) -> Any:
        recorder = Recorder()
        kwargs["hooks"] = [*(kwargs.get("hooks") or ()), recorder]
        returned = original(self, *args, **kwargs)
        recorders.setdefault(self, recorder)
        losses.extend(recorder.losses)
        return returned

    os.environ["MODEL_DIR"] = tempfile.mkdtemp()
    code = _IMPORT.sub("import tfmigrate.compat.v1 as tf", path.read_text("utf-8"))
    legacy.estimator.Estimator.train = train
    try:
        space = _execute(path, code)
    finally:
        legacy.estimator.Estimator.train = original
    weights = [recorder.weights for recorder in recorders.values()]
    return losses, weights, _figures(space["RESULT"])


def run_rewritten(
    path: Path, starts: list[Weights]
) -> tuple[list[float], dict[str, float], list[str]]:
    """The rewritten program, from the given weights; its losses are what it prints.

    Its models take them in the order in which they are made.

    Also the names of the weights that it had already.
    """
    loaded: list[str] = []
    waiting = list(starts)
    manager = tf.train.CheckpointManager
    original, saving = manager.restore_or_initialize, manager.save
    begun: set[Any] = set()

    def save(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self not in begun:  # A directory of its own holds nothing to restore.
            restore(self)
        return saving(self, *args, **kwargs)

    def restore(self: Any) -> Any:
        begun.add(self)
        model = self.checkpoint.model
        weights = waiting.pop(0)
        mine = [*model.trainable_variables, *model.non_trainable_variables]
        places = match_weights(
            [Weight(v.name, v.shape) for v in mine],
            [Weight(name, value.shape) for name, value in weights],
        ).places
        for variable, place in zip(mine, places, strict=True):
            name, value = weights[place]
            if np.any(value) and np.array_equal(variable.numpy(), value):
                loaded.append(name)
            variable.assign(value)
        return original(self)

    os.environ["MODEL_DIR"] = tempfile.mkdtemp()
    manager.restore_or_initialize, manager.save = restore, save
    printed = StringIO()
    try:
        with redirect_stdout(printed):
            space = _execute(path, path.read_text("utf-8"))
    finally:
        manager.restore_or_initialize, manager.save = original, saving
    found = re.findall(r"step \d+: loss = (\S+)", printed.getvalue())
    return [float(text) for text in found], _figures(space["RESULT"]), loaded


def run_on_module(path: Path, old: Path) -> dict[str, float]:
    """The rewritten program, from the legacy program's first checkpoints."""
    new = Path(tempfile.mkdtemp())
    for first in old.rglob("model.ckpt-0.*"):
        place = new / first.relative_to(old)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(first, place)
        state = 'model_checkpoint_path: "model.ckpt-0"\n'
        place.with_name("checkpoint").write_text(state, "utf-8")
    os.environ["MODEL_DIR"] = str(new)
    return _figures(_execute(path, path.read_text("utf-8"))["RESULT"])


def saved_values(folder: Path) -> list[float]:
    """What the last checkpoints below a folder hold, as two numbers for each value."""
    found: list[float] = []
    for state in sorted(folder.rglob("checkpoint")):
        reader = tf.train.load_checkpoint(str(state.parent))
        for name in sorted(reader.get_variable_to_shape_map()):
            if name.rpartition("/")[2].partition("_")[0] in _SLOTS:
                # In TF 1 the step that met the end of the data moved some.
                continue
            value = np.asarray(reader.get_tensor(name), np.float64)
            found += [float(value.sum()), float(np.abs(value).sum())]
    return found


def _execute(path: Path, code: str) -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": "__main__", "__file__": str(path)}
    exec(compile(code, str(path), "exec"), space)
    return space


def _figures(result: dict[str, Any]) -> dict[str, float]:
    return {name: float(value) for name, value in result.items()}


def _on_module(new: Path, path: Path) -> bool:
    return "import training_loop" in (new / path.name).read_text("utf-8")


def main(old: Path, new: Path, output: Path) -> None:
    """All programs of one folder."""
    cpu = tf.config.list_physical_devices("CPU")[0]
    two = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(cpu, two)
    tf.config.threading.set_intra_op_parallelism_threads(1)
    sys.path.insert(0, str(new))
    found: dict[str, Any] = {}
    # A loop module sets what holds for the whole process (sizes as TF 1 had them).
    for path in sorted(old.glob("*.py"), key=lambda one: (_on_module(new, one), one)):
        if len(sys.argv) > 4 and path.stem not in sys.argv[4:]:
            continue
        # Keras draws the seeds of its initializers from Python's generator.
        random.seed(0)
        np.random.seed(0)
        try:
            legacy_losses, weights, expected = run_legacy(path)
            rewritten = new / path.name
            loaded: list[str] = []
            if _on_module(new, path):
                before = Path(os.environ["MODEL_DIR"])
                result = run_on_module(rewritten, before)
                legacy_losses = saved_values(before)
                losses = saved_values(Path(os.environ["MODEL_DIR"]))
            else:
                losses, result, loaded = run_rewritten(rewritten, weights)
        except Exception as problem:
            import traceback

            found[path.stem] = {"error": f"{problem!r}\n{traceback.format_exc()}"}
            continue
        found[path.stem] = {
            "legacy": legacy_losses,
            "rewritten": losses,
            "expected": expected,
            "result": result,
            "loaded": sorted(loaded),
        }
    output.write_text(json.dumps(found, indent=1), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
