"""Examples that have weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from . import heads


class Head(heads.Head):
    """Trains a model on the losses of examples, whose weights may be a feature."""

    def __init__(
        self,
        model: Any,
        optimizer: Any,
        label_vocabulary: Sequence[str] | None = None,
        reduction: Callable[[Any], Any] = tf.reduce_sum,
        pr_auc: Any = None,
        weight_column: str | None = None,
    ) -> None:
        super().__init__(model, optimizer, label_vocabulary, reduction, pr_auc)
        self.weight_column = weight_column

    def weights(self, features: Any) -> Any:
        """Returns the weights of examples, [B, 1], or None."""
        if self.weight_column is None:
            return None
        return tf.reshape(tf.cast(features[self.weight_column], tf.float32), [-1, 1])

    def loss(self, features: Any, labels: Any, outputs: Any) -> Any:
        losses = self.measured(labels, outputs)[0][0]
        weights = self.weights(features)
        return self.reduction(losses if weights is None else losses * weights)

    def update_metrics(self, features: Any, labels: Any, outputs: Any) -> None:
        weights = self.weights(features)
        for metric, values in zip(self.metrics, self.measured(labels, outputs)):
            metric.update_state(*values, sample_weight=weights)
