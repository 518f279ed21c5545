"""Metrics of compiled Keras models, named as TensorFlow 1 named them."""

from __future__ import annotations

from typing import Any

from .keras import KerasModelFn


def with_tf1_names(model_fn: Any) -> Any:
    """Lets the accuracy that was given as a word have its name of TensorFlow 1.15."""
    model_fn.accuracy = "acc"
    return model_fn


# From here on, in all of the program.
tf1_metrics = with_tf1_names(KerasModelFn)
