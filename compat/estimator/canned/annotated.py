"""``tf.contrib.estimator.DNN*WithLayerAnnotations``: DNNs that name their inputs.

They train like the plain classes. Their graphs carry, in collections, the features
before and after the feature columns, for tools that attribute predictions to inputs.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf
from google.protobuf.any_pb2 import Any as AnyMessage

from . import columns as fc
from .v1 import DNNClassifier, DNNRegressor

__all__ = ["DNNClassifierWithLayerAnnotations", "DNNRegressorWithLayerAnnotations"]

_PREFIX = "layer_annotations/"


def _annotate(collection: str, key: str, tensor: Any) -> None:
    message = AnyMessage()
    message.Pack(tf.saved_model.build_tensor_info(tensor))
    tf.add_to_collection(f"{_PREFIX}{collection}/keys", key)
    tf.add_to_collection(f"{_PREFIX}{collection}/values", message)


def _pickled(column: Any) -> bytes:
    try:
        return pickle.dumps(column)
    except (AttributeError, TypeError, pickle.PicklingError):
        # Columns that hold a function; tools ask for the name alone then.
        return pickle.dumps(column.name)


class _Annotated:
    """Mixed into a DNN class; fills the collections when its graph is built."""

    def _call_model_fn(self, features: Any, labels: Any, mode: str, config: Any) -> Any:
        with fc.recorded_inputs() as layers:
            call = super()._call_model_fn  # type: ignore[misc]
            spec = call(features, labels, mode, config)
        for given, columns, outputs in layers:
            _annotate_layer(given, columns, outputs)
        return spec


def _annotate_layer(
    features: dict[str, Any], columns: Sequence[Any], outputs: dict[Any, Any]
) -> None:
    for key in tf.feature_column.make_parse_example_spec(columns):
        tensor = tf.convert_to_tensor_or_sparse_tensor(features[key])
        _annotate("unprocessed_features", key, tensor)
    for column in columns:
        tf.add_to_collection(f"{_PREFIX}feature_columns", _pickled(column))
    for column, tensor in outputs.items():
        _annotate("processed_features", column.name, tensor)


class DNNClassifierWithLayerAnnotations(_Annotated, DNNClassifier):
    """A ``DNNClassifier`` whose graphs name their inputs."""


class DNNRegressorWithLayerAnnotations(_Annotated, DNNRegressor):
    """A ``DNNRegressor`` whose graphs name their inputs."""
