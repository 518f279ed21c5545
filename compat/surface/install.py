"""Puts a clone of old TensorFlow in ``tensorflow``'s place for unedited programs.

After `install`, ``import tensorflow as tf`` gives the clone, and every legacy
door (``tensorflow.contrib...``, ``tensorflow.python.estimator...``,
``tensorflow_estimator``, ``tensorflow.examples.tutorials.mnist``) opens.
TensorFlow's own modules are not written to: what changes is which module object
the name ``tensorflow`` stands for in ``sys.modules``.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
import os
import pkgutil
import sys
import types
from typing import Any

from .doors import DoorFinder
from .late_modules import LateModules
from .namespace import Entry, Namespace, attribute
from .put_off import packages_put_off
from .v1_names import OVERLAY as V1_OVERLAY
from .v2_names import OVERLAY as V2_OVERLAY

__all__ = ["install", "is_installed", "reported_version"]

# What `tf.__version__` says to a program. Programs of the era branch on it, and
# the TF 1 branch is the one whose names they find here. Installed packages and
# our own modules see the real version.
reported_version = "1.15.5"
_REPORTED = {1: reported_version, 2: "2.15.1"}

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LIBRARY_FOLDERS = tuple(
    f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages")
)

# Modules of TensorFlow that bind private Keras modules by name: they must have
# done so before those names are given to the legacy doors.
_PRELOAD = (
    "tensorflow.python.feature_column.feature_column_lib",
    "tensorflow.python.layers.layers",
    "tensorflow.python.ops.rnn_cell",
    "tensorflow.python.ops.rnn_cell_impl",
    "tensorflow.python.training.learning_rate_decay",
    "tensorflow.python.keras.models",
    "tensorflow.python.keras.callbacks",
)

_KERAS_PRIVATE = "tfmigrate.compat.engine.keras_private"
_HABITS = "tfmigrate.compat.engine.habits"

_root: Namespace | None = None


def is_installed() -> bool:
    """Whether ``import tensorflow`` gives the clone in this process."""
    return _root is not None and sys.modules.get("tensorflow") is _root


def install(*, version: int = 1) -> None:
    """Make ``import tensorflow`` mean an older namespace from here on.

    Args:
      version: 1 for TF 1.15, which also switches TensorFlow to TF 1 behaviour
        (graphs, sessions, reference variables); programs of that era can still
        call ``tf.enable_eager_execution()`` first thing. 2 for TF 2.15, which
        stays eager.
    """
    global _root
    if is_installed():
        return
    real = importlib.import_module("tensorflow")
    with packages_put_off():
        for name in _PRELOAD:
            # A later TensorFlow may drop some of these; then nothing binds them.
            if importlib.util.find_spec(name):
                importlib.import_module(name)
        if version == 1:
            _disable_v2_behavior(real)
        _load_runtime(real)
    if version == 1:
        importlib.import_module(_KERAS_PRIVATE).behave_as_in_tf1()
        importlib.import_module(_HABITS).take_up_habits()
    root = _make_root(real, version)
    _root = root
    finder: Any = DoorFinder(root)
    sys.meta_path.insert(0, finder)
    sys.modules["tensorflow"] = root
    for name in list(sys.modules):
        # Names that the legacy doors answer for are looked up anew.
        if name.startswith("tensorflow."):
            spec = finder.find_spec(name)
            if spec is not None:
                sys.modules[name] = spec.loader.target


def _load_runtime(real: types.ModuleType) -> None:
    """Import the compat runtime while ``tensorflow`` still means TensorFlow.

    Its modules bind ``tensorflow`` when they are imported; imported later, they
    would bind the clone. So what every program needs is imported here, and a finder
    sees to the rest; where modules are not in files, all are imported.
    """
    compat = importlib.import_module("tfmigrate.compat")
    late = LateModules(real)
    if not late.can_load(compat):
        for entry in pkgutil.walk_packages(compat.__path__, "tfmigrate.compat."):
            part = entry.name.split(".")[2]
            if part not in ("launcher", "examples", "v1", "v2"):
                importlib.import_module(entry.name)
        return
    for name in ("tfmigrate.compat.engine", "tfmigrate.compat.surface"):
        package = importlib.import_module(name)
        for entry in pkgutil.iter_modules(package.__path__, f"{name}."):
            importlib.import_module(entry.name)
    importlib.import_module("tfmigrate.compat.estimator")
    finder: Any = late
    sys.meta_path.insert(0, finder)


def _disable_v2_behavior(real: Any) -> None:
    logger = logging.getLogger("tensorflow")
    level = logger.level
    logger.setLevel(logging.ERROR)  # it warns that it is deprecated
    try:
        real.compat.v1.disable_v2_behavior()
    finally:
        logger.setLevel(level)


def _make_root(real: types.ModuleType, version: int) -> Namespace:
    reported = _REPORTED[version]

    def told() -> str:
        return _version_for_caller(real, reported)

    overlay: dict[str, Entry] = {
        **(V1_OVERLAY if version == 1 else V2_OVERLAY),
        "tf.__version__": told,
        "tf.version.VERSION": lambda: reported,
    }
    if version == 1:
        overlay["tf.compat.v1"] = lambda: root
        overlay["tf.VERSION"] = lambda: reported
        overlay["tf.examples"] = attribute("tensorflow.examples")
    root = Namespace(
        "tf",
        base=lambda: real.__dict__["compat"].v1 if version == 1 else real,
        overlay=overlay,
        module_name="tensorflow",
        doc=real.__doc__,
    )
    root.__dict__["__path__"] = list(real.__path__)
    root.__dict__["__file__"] = real.__file__
    # Other packages ask importlib.util.find_spec("tensorflow"), which reads it.
    root.__dict__["__spec__"] = real.__spec__
    root.__dict__["_tfm_real"] = real
    return root


def _version_for_caller(real: Any, reported: str) -> str:
    frame = sys._getframe(1)
    here = os.path.dirname(os.path.abspath(__file__))
    while frame.f_back is not None and frame.f_code.co_filename.startswith(here):
        frame = frame.f_back
    path = os.path.abspath(frame.f_code.co_filename)
    installed = any(folder in path for folder in _LIBRARY_FOLDERS)
    ours = path.startswith(os.path.dirname(_PACKAGE)) and "tfmigrate" in str(
        frame.f_globals.get("__name__", "")
    )
    return str(real.__version__) if installed or ours else reported
