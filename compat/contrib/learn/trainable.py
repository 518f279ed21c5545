"""What programs ask whether an Estimator is: ``isinstance(one, learn.Evaluable)``."""

from __future__ import annotations

import abc
from typing import Any

__all__ = ["Evaluable", "Trainable"]


class Evaluable(abc.ABC):
    """Something that can be evaluated."""

    @property
    @abc.abstractmethod
    def model_dir(self) -> Any:
        """Where its checkpoints are."""

    @abc.abstractmethod
    def evaluate(self, *args: Any, **kwargs: Any) -> Any:
        """Metrics over the data, as a dict."""


class Trainable(abc.ABC):
    """Something that can be trained."""

    @abc.abstractmethod
    def fit(self, *args: Any, **kwargs: Any) -> Any:
        """Train."""
