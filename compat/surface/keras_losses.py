"""Losses of Keras whose sign TF 2 turned."""

from __future__ import annotations

from typing import Any

import tf_keras

__all__ = ["CosineSimilarity"]


class CosineSimilarity(tf_keras.losses.CosineSimilarity):
    """TF 1.15's: it grows with likeness, as the metric of that name does."""

    def call(self, y_true: Any, y_pred: Any) -> Any:
        """The similarity of each example."""
        return -super().call(y_true, y_pred)
