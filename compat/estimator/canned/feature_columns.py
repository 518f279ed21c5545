"""The one feature-column factory that today's TensorFlow refuses eagerly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

__all__ = ["shared_embedding_columns"]


def shared_embedding_columns(
    categorical_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
    use_safe_embedding_lookup: bool = True,
) -> list[Any]:
    """Dense columns that look several categorical columns up in one table.

    TensorFlow makes these columns only where no code runs eagerly. An Estimator
    uses them in a graph whatever mode the program around it is in, so they are
    made as if inside one; making a column creates no tensor.
    """
    with tf.Graph().as_default():
        found: list[Any] = tf.feature_column.shared_embedding_columns(
            categorical_columns,
            dimension,
            combiner=combiner,
            initializer=initializer,
            shared_embedding_collection_name=shared_embedding_collection_name,
            ckpt_to_load_from=ckpt_to_load_from,
            tensor_name_in_ckpt=tensor_name_in_ckpt,
            max_norm=max_norm,
            trainable=trainable,
            use_safe_embedding_lookup=use_safe_embedding_lookup,
        )
    return found
