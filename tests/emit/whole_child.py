"""Runs a program and its rewrite in one process, from the same weights.

    python whole_child.py PROGRAM REWRITTEN OUTPUT.json REPLICAS

Both leave what evaluate gave in ``RESULT`` and take their directory from the
environment. Each runs a second time in its directory, where it goes on.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from tfmigrate.compat import v1 as legacy
from tfmigrate.verify.instruments.tf2_devices import use_cpu_replicas

_IMPORT = re.compile(r"^import tensorflow as tf$", re.MULTILINE)


class Weights(legacy.train.SessionRunHook):  # type: ignore[name-defined, misc]
    """Notes all variables before the first step, optimizer slots too."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def begin(self) -> None:
        found = [v for v in legacy.global_variables() if "/replica_" not in v.name]
        self._reads = {v.name.partition(":")[0]: legacy.identity(v) for v in found}

    def after_create_session(self, session: Any, coord: Any) -> None:
        if not self.values:
            self.values = session.run(self._reads)


def execute(path: Path, code: str) -> dict[str, Any]:
    space: dict[str, Any] = {"__name__": "__main__", "__file__": str(path)}
    exec(compile(code, str(path), "exec"), space)
    shown = {name: float(value) for name, value in space["RESULT"].items()}
    predicted = space.get("PREDICTED", [])
    names = sorted(getattr(space.get("model"), "variables", ()))
    found = {"result": shown, "predicted": np.asarray(predicted).tolist()}
    return {**found, "names": names}


def run_legacy(path: Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Two runs of the program on compat, and the variables that it began with."""
    weights = Weights()
    original = legacy.estimator.Estimator.train

    def train(self: Any, *args: Any, **kwargs: Any) -> Any:
        kwargs["hooks"] = [*(kwargs.get("hooks") or ()), weights]
        return original(self, *args, **kwargs)

    code = _IMPORT.sub("import tfmigrate.compat.v1 as tf", path.read_text("utf-8"))
    os.environ["MODEL_DIR"] = tempfile.mkdtemp()
    legacy.estimator.Estimator.train = train
    try:
        return [execute(path, code), execute(path, code)], weights.values
    finally:
        legacy.estimator.Estimator.train = original


def run_rewritten(path: Path, values: dict[str, Any]) -> dict[str, Any]:
    """The rewrite, whose first graph gives the values to its variables."""
    original = tf.compat.v1.wrap_function
    given: set[str] = set()

    def wrap_function(*args: Any, **kwargs: Any) -> Any:
        made = original(*args, **kwargs)
        with made.graph.as_default():
            found = tf.compat.v1.global_variables()
        for variable in found:
            name = variable.name.partition(":")[0]
            if name not in given:
                given.add(name)
                for copy in getattr(variable, "values", None) or (variable,):
                    copy.assign(values[name])
        return made

    tf.compat.v1.wrap_function = wrap_function
    try:
        return execute(path, path.read_text("utf-8"))
    finally:
        tf.compat.v1.wrap_function = original


def main(program: Path, rewritten: Path, output: Path, replicas: int) -> None:
    use_cpu_replicas(replicas)
    legacy_runs, values = run_legacy(program)
    os.environ["MODEL_DIR"] = tempfile.mkdtemp()
    first = run_rewritten(rewritten, values)
    second = execute(rewritten, rewritten.read_text("utf-8"))
    found = {
        "legacy": legacy_runs,
        "rewritten": [first, second],
        "names": [sorted(values), first["names"]],
    }
    output.write_text(json.dumps(found), "utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]), int(sys.argv[4]))
