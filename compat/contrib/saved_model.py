"""``tf.contrib.saved_model``: Keras models as SavedModel folders."""

from __future__ import annotations

import os
from typing import Any

import tf_keras

__all__ = ["load_keras_model", "save_keras_model"]


def save_keras_model(
    model: Any,
    saved_model_path: str | os.PathLike[str],
    custom_objects: dict[str, Any] | None = None,
    as_text: bool = False,
    input_signature: Any = None,
    serving_only: bool = False,
) -> None:
    """Writes the model as a SavedModel folder, never as an HDF5 file.

    Args:
      model: a Keras model with known input shapes.
      saved_model_path: the folder to write.
      custom_objects: needed by nothing any more: the SavedModel holds the graphs.
      as_text: only the binary form is written today, so True is refused.
      input_signature: likewise refused; call ``tf.saved_model.save`` for that.
      serving_only: accepted; the folder can be served and loaded either way.
    """
    del custom_objects, serving_only
    if as_text or input_signature is not None:
        raise ValueError(
            "as_text and input_signature are not supported on this TensorFlow: "
            "use tf.saved_model.save(model, path, signatures=...)"
        )
    model.save(os.fspath(saved_model_path), save_format="tf")


def load_keras_model(
    saved_model_path: str | os.PathLike[str],
    custom_objects: dict[str, Any] | None = None,
) -> Any:
    """The Keras model of a folder that `save_keras_model` wrote."""
    return tf_keras.models.load_model(
        os.fspath(saved_model_path), custom_objects=custom_objects
    )
