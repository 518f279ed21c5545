"""Runs programs in one process and writes down what each leaves in ``RESULT``.

    python child.py legacy|legacy2|plain FOLDER OUTPUT.json NAME...

``legacy`` runs them on tfmigrate.compat, ``legacy2`` as programs of TensorFlow 2;
``plain`` as their owner will: tfmigrate cannot be imported. TFMIGRATE_TEST_CPUS says
how many logical CPUs there are.
"""

from __future__ import annotations

import importlib.abc
import json
import os
import sys
import time
import traceback
import types
import warnings
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


class _NoTfmigrate(importlib.abc.MetaPathFinder):
    """A Python that has never heard of tfmigrate."""

    def find_spec(
        self,
        name: str,
        path: Sequence[str] | None = None,
        target: types.ModuleType | None = None,
    ) -> ModuleSpec | None:
        if name.split(".")[0] == "tfmigrate":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def execute(path: Path, code: str) -> dict[str, Any]:
    """What a program leaves in ``RESULT``, or why it ended."""
    space: dict[str, Any] = {"__name__": "__main__", "__file__": str(path)}
    start = time.time()
    try:
        exec(compile(code, str(path), "exec"), space)
    except BaseException as problem:
        traceback.print_exc()
        return {"error": f"{type(problem).__name__}: {problem}"[:500]}
    found = {name: float(value) for name, value in space["RESULT"].items()}
    return {"result": found, "seconds": time.time() - start}


def main(kind: str, folder: Path, output: Path, names: list[str]) -> None:
    """Runs the programs of a folder."""
    warnings.simplefilter("ignore")
    if kind != "plain":
        import tfmigrate.compat

        tfmigrate.compat.install(version=2 if kind == "legacy2" else 1)
    else:
        sys.meta_path.insert(0, _NoTfmigrate())
    import tensorflow as tf

    tf.get_logger().setLevel("ERROR")
    cpus = [tf.config.LogicalDeviceConfiguration()]
    cpus *= int(os.environ.get("TFMIGRATE_TEST_CPUS", "1"))
    (cpu,) = tf.config.list_physical_devices("CPU")
    tf.config.set_logical_device_configuration(cpu, cpus)
    sys.path.insert(0, str(folder))
    found = {}
    for name in names:
        path = folder / f"{name}.py"
        found[name] = execute(path, path.read_text("utf-8"))
        output.write_text(json.dumps(found), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4:])
