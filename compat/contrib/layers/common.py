"""What all layer functions share: scopes, collections, activation."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from ..framework.variables import model_variable
from .utils import collect_named_outputs

__all__ = ["collections_for", "finish", "layer_variable", "normalized_or_biased"]


def collections_for(variables_collections: Any, name: str) -> Any:
    """The extra collections of one variable (a list, or a mapping by name)."""
    if isinstance(variables_collections, dict):
        return variables_collections.get(name)
    return variables_collections


def layer_variable(
    name: str,
    shape: Any,
    dtype: Any,
    *,
    initializer: Any,
    regularizer: Any = None,
    variables_collections: Any = None,
    trainable: bool = True,
    **options: Any,
) -> Any:
    """One model variable of a layer, with its regularizer and collections."""
    return model_variable(
        name,
        shape=shape,
        dtype=dtype,
        initializer=initializer,
        regularizer=regularizer,
        collections=collections_for(variables_collections, name),
        trainable=trainable,
        **options,
    )


def normalized_or_biased(
    outputs: Any,
    units: int,
    *,
    normalizer_fn: Any,
    normalizer_params: Any,
    biases_initializer: Any,
    biases_regularizer: Any,
    variables_collections: Any,
    trainable: bool,
    data_format: str | None = None,
) -> Any:
    """Apply the normaliser if there is one, else add biases if wanted."""
    if normalizer_fn is not None:
        return normalizer_fn(outputs, **(normalizer_params or {}))
    if biases_initializer is None:
        return outputs
    biases = layer_variable(
        "biases",
        [units],
        outputs.dtype.base_dtype,
        initializer=biases_initializer,
        regularizer=biases_regularizer,
        variables_collections=variables_collections,
        trainable=trainable,
    )
    if data_format is not None and data_format.startswith("NC"):
        rank = outputs.get_shape().ndims
        return outputs + tf.reshape(biases, [1, -1] + [1] * (rank - 2))
    return tf.nn.bias_add(outputs, biases)


def finish(outputs: Any, activation_fn: Any, collections: Any, scope: Any) -> Any:
    """Apply the activation, and file the output under its collections."""
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    alias = scope if isinstance(scope, str) else scope.name
    return collect_named_outputs(collections, alias, outputs)
