"""Exports of what looks up in tables that functions make."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from . import export
from .export import COLUMNS

TABLES: list[Any] = []


def tracked(table: Any) -> Any:
    """Keeps a table that a function makes: an export has none but those."""
    TABLES.append(table)
    return table


class Trainer(export.Trainer):
    """A trainer whose exports hold tables."""

    def _signatures(self, receiver: Any) -> Any:
        """Returns the functions that an export answers by, with their tables made."""
        answers = super()._signatures(receiver)
        return tf.nest.map_structure(lambda f: f.get_concrete_function(), answers)

    def _exported(self) -> Any:
        """Returns what holds all that an export needs."""
        return tf.train.Checkpoint(
            variables=self.task.model.variables,
            columns=[n for n in self.task.model.submodules if isinstance(n, COLUMNS)],
            tables=[*TABLES],
        )
