"""Training steps of TF 2 canned models: Keras optimizers that move global_step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ..heads.base import MEAN_OVER_BATCH, mean_over_replicas
from .optimizers import modern_optimizer

__all__ = ["counting_optimizer", "train_op_of"]


def counting_optimizer(optimizer: Any, *, learning_rate: float | None = None) -> Any:
    """The optimizer of an argument, with the global step as its step counter."""
    made = modern_optimizer(optimizer, learning_rate=learning_rate)
    made.iterations = tf.train.get_or_create_global_step()
    return made


def train_op_of(
    groups: Sequence[tuple[Any, Sequence[Any], Sequence[Any]]], *, loss_reduction: Any
) -> Callable[[Any], Any]:
    """A ``train_op_fn`` for several optimizers with variables and updates each.

    Optimizers of TF 2 add gradients up over replicas: a mean loss is divided
    first, a summed one is not.
    """

    def train_op_fn(loss: Any) -> Any:
        if loss_reduction == MEAN_OVER_BATCH:
            loss = mean_over_replicas(loss)
        steps: list[Any] = []
        for optimizer, variables, updates in groups:
            steps.extend(optimizer.get_updates(loss, list(variables)))
            steps.extend(updates)
        return tf.group(*steps)

    return train_op_fn
