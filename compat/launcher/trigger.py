"""Installs the TF 1.15 clone at the moment a program first imports TensorFlow.

Waiting for that moment keeps programs that fail early (a missing argument, a
syntax error) fast, and lets child processes that never touch TensorFlow start
as quickly as they always did.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
import types
import warnings
from collections.abc import Sequence
from typing import Any

from ..surface.put_off import packages_put_off
from .bygone import restore_names
from .settings import Settings

__all__ = ["Trigger", "arm"]

_NAMES = frozenset({"keras", "tensorflow", "tensorflow_core", "tensorflow_estimator"})


class Trigger:
    """A finder that installs the clone on the first TensorFlow import."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: types.ModuleType | None = None,
    ) -> Any:
        """Patch, then let the finder that the patch installed answer."""
        if fullname.partition(".")[0] not in _NAMES:
            return None
        sys.meta_path.remove(self)
        prepare_tensorflow(self.settings)
        for finder in sys.meta_path:
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                # Python would take the spec of a module that appeared during
                # the search, and load TensorFlow once more from it.
                sys.modules.pop(fullname, None)
                return spec
        return None


def arm(settings: Settings) -> None:
    """Set the trap; TensorFlow is not imported yet."""
    # tf.keras must be Keras 2 wherever TensorFlow's own code asks for it. The
    # process is ours from its start, so the variable cannot surprise anybody.
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "1")
    trigger: Any = Trigger(settings)
    sys.meta_path.insert(0, trigger)


def _no_deprecation(record: logging.LogRecord) -> bool:
    return "is deprecated and will be removed" not in str(record.msg)


def prepare_tensorflow(settings: Settings) -> None:
    """Import TensorFlow, lay the clone over it, apply the run's settings."""
    # Advice to leave tf.layers is what a person running old code knows already.
    warnings.filterwarnings("ignore", message=r"`tf\.layers\.|`layer\.|`tf\.nn\.rnn")
    logging.getLogger("tensorflow").addFilter(_no_deprecation)
    try:
        with packages_put_off():
            importlib.import_module("tensorflow")
            importlib.import_module("tf_keras")
    except ImportError as error:
        name = (error.name or "tensorflow").partition(".")[0]
        raise ImportError(
            f"{error}. `tfmigrate run` needs TensorFlow and tf_keras: "
            "pip install tensorflow tf-keras tensorboard",
            name=name,
        ) from error
    if settings.replicas is not None:
        from ..engine.devices import configure_replicas

        configure_replicas(settings.replicas)
    from ..surface.install import install

    install(version=settings.version)
    restore_names("numpy")  # TensorFlow has loaded it
    if settings.trace_legacy:
        from . import trace

        trace.start()
