"""What TensorFlow refuses to make in an eager program, though it needs no graph."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from .vocabulary import v1


def shared_embedding_columns(*args: Any, **kwargs: Any) -> list[Any]:
    """As `tf.feature_column.shared_embedding_columns` of TensorFlow 1.

    A program makes its columns around the model function, which is in no graph.
    """
    with tf.Graph().as_default():
        columns: list[Any] = v1.feature_column.shared_embedding_columns(*args, **kwargs)
    return columns


class FileWriter(v1.summary.FileWriter):
    """As `tf.summary.FileWriter` of TensorFlow 1, wherever it is made."""

    def __init__(self, *args: Any, **kwargs: Any):
        with tf.Graph().as_default():
            super().__init__(*args, **kwargs)
