"""Steps of an evaluation on replicas."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from . import replicas


@dataclasses.dataclass(frozen=True)
class RunConfig(replicas.RunConfig):
    """Settings that say on what it is evaluated."""

    eval_distribute: tf.distribute.Strategy | None = None


class Trainer(replicas.Trainer):
    """A trainer whose evaluations count steps of all replicas."""

    config: RunConfig

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        *,
        checkpoint_path: str | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """Returns the metrics of a checkpoint; a step takes a batch of each replica."""
        if steps and self.config.eval_distribute:
            steps = int(steps) * self.config.eval_distribute.num_replicas_in_sync
        return super().evaluate(
            input_fn, steps, checkpoint_path=checkpoint_path, name=name
        )
