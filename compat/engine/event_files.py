"""Event files as dashboards expect them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf

__all__ = ["write_checkpoint_path", "write_evaluation"]


def _describe(results: Mapping[str, Any]) -> str:
    return ", ".join(
        f"{key} = {value}"
        for key, value in sorted(results.items())
        if not isinstance(value, bytes)
    )


def write_evaluation(
    output_dir: str, results: Mapping[str, Any], global_step: int
) -> None:
    """Writes the numbers of one evaluation under its step."""
    tf.logging.info(
        "Saving dict for global step %d: %s", global_step, _describe(results)
    )
    summary = tf.Summary()
    for key, value in results.items():
        if value is None or key == tf.GraphKeys.GLOBAL_STEP:
            continue
        _add_value(summary, key, value)
    writer = tf.summary.FileWriterCache.get(output_dir)
    writer.add_summary(summary, global_step)
    writer.flush()


def _add_value(summary: Any, key: str, value: Any) -> None:
    if isinstance(value, float | int | np.floating | np.integer):
        summary.value.add(tag=key, simple_value=float(value))
    elif isinstance(value, bytes):
        try:
            nested = tf.Summary.FromString(value)
        except Exception:  # protobuf raises a type of its own for bad bytes
            tf.logging.warn(
                "Skipping summary for %s, cannot parse string to Summary.", key
            )
            return
        for index, entry in enumerate(nested.value):
            entry.tag = f"{key}/{index}"
        summary.value.extend(nested.value)
    elif isinstance(value, np.ndarray):
        entry = summary.value.add(tag=key, node_name=key)
        entry.tensor.CopyFrom(tf.make_tensor_proto(value))
        tf.logging.info(
            "Summary for np.ndarray is not visible in Tensorboard by default."
        )
    else:
        tf.logging.warn(
            "Skipping summary for %s, must be a float, np.float32, np.int64, np.int32 "
            "or int or np.ndarray or a serialized string of Summary.",
            key,
        )


def write_checkpoint_path(
    output_dir: str, checkpoint_path: str, global_step: int
) -> None:
    """Writes which checkpoint an evaluation was made from."""
    tf.logging.info(
        "Saving 'checkpoint_path' summary for global step %d: %s",
        global_step,
        checkpoint_path,
    )
    summary = tf.Summary()
    summary.value.add(
        tag="checkpoint_path",
        tensor=tf.make_tensor_proto(checkpoint_path, dtype=tf.string),
    )
    writer = tf.summary.FileWriterCache.get(output_dir)
    writer.add_summary(summary, global_step)
    writer.flush()
