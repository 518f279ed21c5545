"""Models of a linear and a deep part, which an optimizer each trains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf
import tf_keras

from . import many_optimizers, weighted_heads


class WideAndDeepModel(tf_keras.Model):
    """The sum of a linear model and a deep one."""

    def __init__(self, wide: Any, deep: Any) -> None:
        super().__init__()
        self.wide, self.deep = wide, deep

    def call(self, features: Any, training: bool = False) -> Any:
        return self.deep(features, training=training) + self.wide(features)


class Head(weighted_heads.Head, many_optimizers.Task):
    """Trains a model on the losses of examples, whose weights may be a feature."""

    def __init__(
        self,
        model: Any,
        optimizer: Any,
        label_vocabulary: Sequence[str] | None = None,
        reduction: Callable[[Any], Any] = tf.reduce_sum,
        pr_auc: Any = None,
        weight_column: str | None = None,
        wide_optimizer: Any = None,
    ) -> None:
        super().__init__(
            model, optimizer, label_vocabulary, reduction, pr_auc, weight_column
        )
        self.wide_optimizer = wide_optimizer

    def optimizers(self) -> dict[str, Any]:
        if self.wide_optimizer is None:
            return super().optimizers()
        return {"optimizer": self.optimizer, "wide_optimizer": self.wide_optimizer}

    def variables(self) -> dict[str, Any]:
        if self.wide_optimizer is None:
            return super().variables()
        return {
            "wide_optimizer": self.model.wide.trainable_variables,
            "optimizer": self.model.deep.trainable_variables,
        }
