"""Puts a clone of old TensorFlow in ``tensorflow``'s place for unedited programs.

After `install`, ``import tensorflow as tf`` gives the clone, and every legacy
door (``tensorflow.contrib...``, ``tensorflow.python.estimator...``,
``tensorflow_estimator``, ``tensorflow.examples.tutorials.mnist``) opens.
TensorFlow's own modules are not written to: what changes is which module object
the name ``tensorflow`` stands for in ``sys.modules``.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import logging
import os
import pkgutil
import sys
import types
from collections.abc import Sequence
from typing import Any

from . import importer
from .layered import KERAS_PARTS, Family, Layered, family_of
from .namespace import Entry, Namespace, attribute
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

# Top folders of TensorFlow that are packages of code, not part of its API.
_PRIVATE = frozenset(
    (
        *("_api", "compiler", "core", "dtensor", "include"),
        *("lite", "python", "security", "tools", "tsl"),
    )
)

_TRACKING = "tensorflow.python.training.tracking"
_TRACKABLE = "tensorflow.python.trackable"

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
    for name in _PRELOAD:
        # A later TensorFlow may drop some of these; then nothing binds them.
        if importlib.util.find_spec(name):
            importlib.import_module(name)
    if version == 1:
        _disable_v2_behavior(real)
    _load_runtime()
    root = _make_root(real, version)
    _root = root
    finder: Any = _DoorFinder(root, real)
    sys.meta_path.insert(0, finder)
    sys.modules["tensorflow"] = root
    for name in list(sys.modules):
        # Names that the legacy doors answer for are looked up anew.
        if name.startswith("tensorflow."):
            spec = finder.find_spec(name)
            if spec is not None:
                sys.modules[name] = spec.loader.target


def _load_runtime() -> None:
    """Import the compat runtime while ``tensorflow`` still means TensorFlow.

    Its modules bind ``tensorflow`` when they are imported; imported later, they
    would bind the clone. They keep this rule by importing it at module level.
    """
    compat = importlib.import_module("tfmigrate.compat")
    for entry in pkgutil.walk_packages(compat.__path__, "tfmigrate.compat."):
        part = entry.name.split(".")[2]
        if part not in ("launcher", "examples", "v1", "v2"):
            importlib.import_module(entry.name)


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


class _DoorFinder:
    """Finds what stands behind legacy import paths."""

    def __init__(self, root: Namespace, real: types.ModuleType) -> None:
        self.root = root
        self.real = real

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: types.ModuleType | None = None,
    ) -> Any:
        """Answer for names below ``tensorflow``, ``keras`` and the estimator's."""
        top = fullname.partition(".")[0]
        if fullname.startswith(_TRACKING):  # renamed as a whole
            name = _TRACKABLE + fullname[len(_TRACKING) :]
            if not importlib.util.find_spec(name):
                return None
            return importer.spec_for(fullname, importlib.import_module(name))
        if top == "tensorflow_core":  # what TF 1.15 called itself inside
            name = "tensorflow" + fullname[len(top) :]
            return importer.spec_for(fullname, importlib.import_module(name))
        if top == "keras":
            return self._keras(fullname)
        if top not in ("tensorflow", "tensorflow_estimator"):
            return None
        if fullname == "tensorflow":
            return importer.spec_for(fullname, self.root)
        if fullname.startswith("tensorflow.examples"):
            return self._example(fullname)
        family = family_of(fullname)
        if family is not None:
            return importer.spec_for(fullname, self._layered(fullname, family))
        parts = fullname.split(".")[1:]
        if not parts or self._is_private(parts):
            return None
        module = importer.module_at(self.root, parts)
        return None if module is None else importer.spec_for(fullname, module)

    def _is_private(self, parts: list[str]) -> bool:
        """Packages of TensorFlow's own, such as tensorflow.python or .core."""
        return parts[0] in _PRIVATE

    def _layered(self, fullname: str, family: Family) -> Layered:
        sources = [self._source(path) for path in family.sources]
        folder: list[str] = []
        if family.keep:
            kept = self._real_module(fullname)
            if kept is not None:
                sources.append(lambda: kept)
                folder = list(getattr(kept, "__path__", []))
        return Layered(fullname, sources, folder)

    def _keras(self, fullname: str) -> Any:
        """Keras 2 for programs that import the Keras package by itself.

        A module called keras in the program's own folder stays what it is.
        """
        spec = importlib.machinery.PathFinder.find_spec("keras")
        folders = (spec.submodule_search_locations if spec is not None else None) or ()
        if not any(os.path.isdir(os.path.join(f, "_tf_keras")) for f in folders):
            return None
        found: Any = self.root.keras
        for part in fullname.split(".")[1:]:
            found = getattr(found, part, None)
        if not isinstance(found, types.ModuleType):
            sources = [self._source("keras")]
            sources += [self._source(f"keras.{name}") for name in KERAS_PARTS]
            found = Layered(fullname, sources, [])
        return importer.spec_for(fullname, found)

    def _source(self, path: str) -> Any:
        if path.startswith("tfmigrate."):
            return lambda: importlib.import_module(path)

        def look() -> Any:
            found: Any = self.root
            for part in path.split("."):
                found = getattr(found, part)
            return found

        return look

    def _real_module(self, fullname: str) -> types.ModuleType | None:
        known = sys.modules.get(fullname)
        if known is not None and not isinstance(known, Layered):
            return known
        return None

    def _example(self, fullname: str) -> Any:
        ours = "tfmigrate.compat.examples" + fullname[len("tensorflow.examples") :]
        try:
            module = importlib.import_module(ours)
        except ModuleNotFoundError as error:
            if error.name and ours.startswith(error.name):
                return None
            raise
        return importer.spec_for(fullname, module)
