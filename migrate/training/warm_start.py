"""Training that begins with the weights of another checkpoint."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

from . import core
from .core import OBJECTS, OLD


@dataclasses.dataclass(frozen=True)
class WarmStart:
    """A checkpoint, and the layers of a model that begin as in it."""

    path: str
    layers: Sequence[str]


class Trainer(core.Trainer):
    """A trainer that begins with the weights of another."""

    def __init__(
        self,
        make_task: Any,
        model_dir: str | None = None,
        config: Any = None,
        params: Any = None,
        warm_start_from: str | WarmStart | None = None,
    ) -> None:
        super().__init__(make_task, model_dir, config, params)
        self.warm_start_from = warm_start_from

    def _prepare(self, features: Any, path: str | None = None) -> None:
        """Makes all variables, and restores the latest or another checkpoint."""
        super()._prepare(features, path)
        if self.warm_start_from and not (path or self.latest_checkpoint()):
            self._start_warm(self.warm_start_from)

    def _start_warm(self, start: Any) -> None:
        """Lets what trains begin as in a checkpoint: in all layers, or in some."""
        paths: list[list[str]] = [[]]
        if isinstance(start, WarmStart):
            start, paths = start.path, [one.split(".") for one in start.layers]
        path = tf.train.latest_checkpoint(start) or start
        if not tf.train.load_checkpoint(path).has_tensor(OBJECTS):
            raise ValueError(OLD % path)
        variables = self.task.model.variables
        averages = [(one, one.numpy()) for one in variables if not one.trainable]
        for names in paths:
            part = functools.reduce(getattr, names, self.task.model)
            for name in reversed(["model", *names]):
                part = tf.train.Checkpoint(**{name: part})
            part.read(path).assert_existing_objects_matched()
        for variable, value in averages:
            variable.assign(value)
