"""Runs the checks of a file in one process of TensorFlow; prints what failed as JSON.

    python child.py checks/FILE.py

A check is a function `check_*`. Where it has a parameter `folder`, it gets an empty one.
"""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
import json
import os
import sys
import tempfile
import traceback
from pathlib import Path
from types import ModuleType

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


def module_of(path: Path) -> ModuleType:
    """Imports a file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def main(path: Path) -> None:
    """Runs the checks; what they print goes to stderr."""
    import tensorflow as tf

    cpu = tf.config.list_physical_devices("CPU")[0]
    two = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(cpu, two)
    failures = {}
    with contextlib.redirect_stdout(sys.stderr):
        sys.path.insert(0, str(path.parent))
        for name, check in vars(module_of(path)).items():
            if name.startswith("check_"):
                wants = inspect.signature(check).parameters
                try:
                    check(*[tempfile.mkdtemp()] * len(wants))
                except Exception:
                    failures[name] = traceback.format_exc()
    print("\n" + json.dumps({"failures": failures}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
