"""What ``tfmigrate run`` does for its process, done for the one that asks."""

from __future__ import annotations

import dataclasses
import sys

from .bygone import restore_python_names
from .old_protos import restore_old_protos
from .settings import Settings
from .trigger import Trigger, arm, prepare_tensorflow

__all__ = ["install"]


def install(*, version: int = 1) -> None:
    """Let this process run TF 1 programs, as ``tfmigrate run`` would.

    From here on ``import tensorflow`` gives the names of TF 1.15, in every module
    of the process, with graphs and sessions as they were; the names that Python
    and NumPy dropped since are there again. Call it before anything imports
    TensorFlow. Called again, or under ``tfmigrate run``, it does nothing.

    Args:
      version: 1 for a program written for TF 1; 2 for one written for TF 2.0 to
        2.15, which gets the names of TF 2.15 and stays eager.
    """
    if version not in (1, 2):
        raise ValueError(f"version must be 1 or 2, not {version!r}")
    if any(isinstance(finder, Trigger) for finder in sys.meta_path):
        return  # it waits for TensorFlow already
    restore_python_names()
    restore_old_protos()
    settings = dataclasses.replace(Settings.from_environment(), version=version)
    if "tensorflow" in sys.modules:
        prepare_tensorflow(settings)
    else:
        arm(settings)
