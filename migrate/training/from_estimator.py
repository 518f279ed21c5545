"""Trainers as functions of arrays."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

from . import export
from .predictors import from_saved_model


def from_estimator(
    trainer: export.Trainer, receiver: Any, output_key: str | None = None
) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Returns a function from arrays by name to what a trainer's model answers."""
    path = trainer.export_saved_model(tempfile.mkdtemp(), receiver)
    return from_saved_model(path, output_key)
