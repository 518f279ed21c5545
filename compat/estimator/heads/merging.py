"""What multi-heads of both generations share: splitting logits, merging results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ..export import PredictOutput
from .keys import DEFAULT_SERVING_KEY, PREDICT_SERVING_KEY

__all__ = ["check_heads", "merged_exports", "split_logits", "weighted_sum"]


def check_heads(heads: Sequence[Any], head_weights: Sequence[float] | None) -> None:
    """Heads exist, have names, and there are as many weights as heads."""
    if not heads:
        raise ValueError(f"Must specify heads. Given: {heads}")
    if head_weights and len(head_weights) != len(heads):
        raise ValueError(
            "heads and head_weights must have the same size. Given len(heads): "
            f"{len(heads)}. Given len(head_weights): {len(head_weights)}."
        )
    for head in heads:
        if not head.name:
            raise ValueError(f"All given heads must have name specified. Given: {head}")


def split_logits(logits: Any, heads: Sequence[Any]) -> dict[str, Any]:
    """Logits by head name; a dict is taken as already split."""
    names = [head.name for head in heads]
    if isinstance(logits, Mapping):
        missing = [name for name in names if name not in logits]
        if missing:
            raise ValueError(f"logits has missing values for head(s): {missing}")
        return dict(logits)
    with tf.name_scope(None, "split_logits", values=[logits]):
        logits = tf.convert_to_tensor(logits)
        sizes = [head.logits_dimension for head in heads]
        last = tf.dimension_value(logits.shape[-1])
        if last is not None and last != sum(sizes):
            raise ValueError(
                f"Could not split logits of shape {logits.shape.as_list()} among the "
                f"heads with individual logits dimensions: {sizes}. The last dimension "
                f"of the logits tensor should equal {sum(sizes)} but is {last}."
            )
        return dict(zip(names, tf.split(logits, sizes, axis=-1), strict=True))


def weighted_sum(losses: Sequence[Any], head_weights: Sequence[float]) -> Any:
    """Sum of the losses of the heads, each times its weight."""
    with tf.name_scope("merge_losses"):
        if head_weights:
            losses = [
                tf.multiply(loss, weight)
                for loss, weight in zip(losses, head_weights, strict=True)
            ]
        return tf.add_n(losses)


def merged_exports(by_head: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Signatures of every head under its name, and one of all predictions.

    The default signature is that of the first head.
    """
    merged: dict[str, Any] = {}
    everything: dict[str, Any] = {}
    for name, outputs in by_head.items():
        if DEFAULT_SERVING_KEY not in merged:
            merged[DEFAULT_SERVING_KEY] = _default(outputs, name)
        for key, output in outputs.items():
            merged[name if key == DEFAULT_SERVING_KEY else f"{name}/{key}"] = output
            if key == PREDICT_SERVING_KEY and isinstance(output, PredictOutput):
                for field, value in output.outputs.items():
                    everything[f"{name}/{field}"] = value
    merged[PREDICT_SERVING_KEY] = PredictOutput(everything)
    return merged


def _default(outputs: Mapping[str, Any], name: str) -> Any:
    if len(outputs) == 1:
        return next(iter(outputs.values()))
    if DEFAULT_SERVING_KEY not in outputs:
        raise ValueError(
            f"{name} did not specify default export_outputs. Given: {outputs} "
            "Suggested fix: Use one of the heads in tf.estimator, or include key "
            f"{DEFAULT_SERVING_KEY} in export_outputs."
        )
    return outputs[DEFAULT_SERVING_KEY]
