"""Every private TensorFlow import of the compat engine, with its reason.

Public paths are used wherever they exist. What is here has none: if a future
TensorFlow moves one of these names, this is the only file to mend.
"""

from __future__ import annotations

from typing import Any

# ExportOutput classes and the default-signature rules. The public names lived
# in tf.estimator.export, which went away with the Estimator; the classes are
# still what SavedModel building inside TensorFlow expects.
from tensorflow.python.saved_model.model_utils import export_output, export_utils

__all__ = ["export_output", "export_utils", "is_export_output"]


def is_export_output(value: Any) -> bool:
    """Whether ``value`` is one of the export output descriptions."""
    return isinstance(value, export_output.ExportOutput)
