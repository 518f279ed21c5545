"""``tf.contrib.learn.io``: inputs from arrays and pandas."""

from __future__ import annotations

from .inputs import (
    extract_pandas_data,
    extract_pandas_labels,
    extract_pandas_matrix,
    numpy_input_fn,
    pandas_input_fn,
)
from .reading import (
    read_batch_examples,
    read_batch_features,
    read_batch_record_features,
)

__all__ = [
    "extract_pandas_data",
    "extract_pandas_labels",
    "extract_pandas_matrix",
    "numpy_input_fn",
    "pandas_input_fn",
    "read_batch_examples",
    "read_batch_features",
    "read_batch_record_features",
]
