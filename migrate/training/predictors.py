"""Saved models as functions of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf


def from_saved_model(
    export_dir: str, signature_def_key: str | None = None
) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """Returns a function from arrays by name to what a saved model answers to them."""
    model = tf.saved_model.load(export_dir)

    def predict(inputs: dict[str, Any]) -> dict[str, Any]:
        # The signature does not keep the model, which has its variables.
        signature = model.signatures[signature_def_key or "serving_default"]
        specs = signature.structured_input_signature[1]
        given = {key: tf.constant(inputs[key], specs[key].dtype) for key in specs}
        return {key: value.numpy() for key, value in signature(**given).items()}

    return predict
