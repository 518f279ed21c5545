"""Heads whose replicas add their losses up."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from . import heads, sum_loss


class Head(heads.Head, sum_loss.Task):
    """Trains a model on the losses of examples, which replicas add up."""

    @property
    def summed(self) -> Any:  # type: ignore[override]
        """Whether the loss is a sum."""
        return self.reduction is tf.reduce_sum
