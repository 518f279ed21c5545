"""How TF 1 canned models split variables over parameter servers."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

__all__ = ["input_partitioner", "variable_partitioner"]

_EMBEDDING_SLICE_BYTES = 64 << 20


def _parameter_servers(config: Any) -> int:
    return int(config.num_ps_replicas) if config else 0


def variable_partitioner(config: Any) -> Any:
    """For dense layers: slices of at least 256 KB."""
    return tf.min_max_variable_partitioner(max_partitions=_parameter_servers(config))


def input_partitioner(config: Any) -> Any:
    """For embeddings and linear weights: slices of at least 64 MB."""
    return tf.min_max_variable_partitioner(
        max_partitions=_parameter_servers(config),
        min_slice_size=_EMBEDDING_SLICE_BYTES,
    )
