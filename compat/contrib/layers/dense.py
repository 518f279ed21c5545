"""Fully connected layers, and layers made of other layers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from ..framework.scopes import add_arg_scope
from . import common
from .initializers import xavier_initializer

__all__ = [
    "bias_add",
    "dropout",
    "elu",
    "embed_sequence",
    "flatten",
    "fully_connected",
    "linear",
    "maxout",
    "one_hot_encoding",
    "relu",
    "relu6",
    "repeat",
    "softmax",
    "stack",
    "unit_norm",
]

_ZEROS = tf.zeros_initializer()


@add_arg_scope
def fully_connected(
    inputs: Any,
    num_outputs: Any,
    activation_fn: Any = tf.nn.relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = xavier_initializer(),  # noqa: B008
    weights_regularizer: Any = None,
    biases_initializer: Any = _ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """``activation(inputs @ weights + biases)``, ReLU unless told otherwise."""
    if not isinstance(num_outputs, int):
        try:
            num_outputs = int(num_outputs)
        except (TypeError, ValueError):
            raise ValueError(
                f"num_outputs type should be one of int, got {type(num_outputs)}."
            ) from None
    with tf.variable_scope(scope, "fully_connected", [inputs], reuse=reuse) as place:
        inputs = tf.convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        depth = tf.dimension_value(inputs.get_shape()[-1]) if rank else None
        if rank is None or rank < 2 or depth is None:
            raise ValueError(
                "fully_connected needs inputs of rank 2 or more whose last "
                f"dimension is known; got shape {inputs.get_shape()}."
            )
        weights = common.layer_variable(
            "weights",
            [depth, num_outputs],
            inputs.dtype.base_dtype,
            initializer=weights_initializer,
            regularizer=weights_regularizer,
            variables_collections=variables_collections,
            trainable=trainable,
        )
        if rank == 2:
            outputs = tf.matmul(inputs, weights)
        else:
            outputs = tf.tensordot(inputs, weights, [[rank - 1], [0]])
            outputs.set_shape([*inputs.get_shape().as_list()[:-1], num_outputs])
        outputs = common.normalized_or_biased(
            outputs,
            num_outputs,
            normalizer_fn=normalizer_fn,
            normalizer_params=normalizer_params,
            biases_initializer=biases_initializer,
            biases_regularizer=biases_regularizer,
            variables_collections=variables_collections,
            trainable=trainable,
        )
        return common.finish(outputs, activation_fn, outputs_collections, place)


linear = functools.partial(fully_connected, activation_fn=None)
relu = functools.partial(fully_connected, activation_fn=tf.nn.relu)
relu6 = functools.partial(fully_connected, activation_fn=tf.nn.relu6)
elu = functools.partial(fully_connected, activation_fn=tf.nn.elu)


@add_arg_scope
def bias_add(
    inputs: Any,
    activation_fn: Any = None,
    initializer: Any = _ZEROS,
    regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """Add a learned bias per channel."""
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    with tf.variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as place:
        inputs = tf.convert_to_tensor(inputs)
        axis = 1 if data_format == "NCHW" and inputs.get_shape().ndims == 4 else -1
        biases = common.layer_variable(
            "biases",
            [tf.dimension_value(inputs.get_shape()[axis])],
            inputs.dtype.base_dtype,
            initializer=initializer,
            regularizer=regularizer,
            variables_collections=variables_collections,
            trainable=trainable,
        )
        outputs = tf.nn.bias_add(inputs, biases, data_format=data_format)
        return common.finish(outputs, activation_fn, outputs_collections, place)


@add_arg_scope
def dropout(
    inputs: Any,
    keep_prob: Any = 0.5,
    noise_shape: Any = None,
    is_training: Any = True,
    outputs_collections: Any = None,
    scope: Any = None,
    seed: int | None = None,
) -> Any:
    """Keep each element with probability ``keep_prob`` and scale it up."""
    with tf.variable_scope(scope, "Dropout", [inputs]) as place:
        inputs = tf.convert_to_tensor(inputs)

        def dropped() -> Any:
            return tf.nn.dropout(
                inputs, rate=1.0 - keep_prob, noise_shape=noise_shape, seed=seed
            )

        outputs = when(is_training, dropped, lambda: tf.identity(inputs))
        return common.finish(outputs, None, outputs_collections, place)


def when(pred: Any, yes: Callable[[], Any], no: Callable[[], Any]) -> Any:
    """One of two branches, chosen now if the condition is known."""
    value = tf.get_static_value(pred) if tf.is_tensor(pred) else pred
    if value is None or (hasattr(pred, "op") and isinstance(pred, tf.Variable)):
        return tf.cond(tf.cast(pred, tf.bool), yes, no)
    return yes() if value else no()


@add_arg_scope
def flatten(inputs: Any, outputs_collections: Any = None, scope: Any = None) -> Any:
    """``[batch, ...]`` to ``[batch, everything else]``."""
    with tf.name_scope(scope, "Flatten", [inputs]) as place:
        inputs = tf.convert_to_tensor(inputs)
        shape = inputs.get_shape()
        if shape.ndims is None or shape.ndims < 1:
            raise ValueError("Inputs must have a known rank of at least 1.")
        depth = tf.TensorShape(shape.as_list()[1:]).num_elements()
        if depth is None:
            outputs = tf.reshape(
                inputs, tf.stack([tf.shape(inputs)[0], -1]), name="flatten/Reshape"
            )
        else:
            outputs = tf.reshape(inputs, [-1, depth], name="flatten/Reshape")
        outputs.set_shape([shape.as_list()[0], depth])
        return common.finish(outputs, None, outputs_collections, place)


@add_arg_scope
def one_hot_encoding(
    labels: Any,
    num_classes: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """Class numbers as one-hot rows."""
    with tf.name_scope(scope, "OneHotEncoding", [labels, num_classes]) as place:
        labels = tf.convert_to_tensor(labels)
        if labels.dtype.base_dtype == tf.int32:
            labels = tf.cast(labels, tf.int64)
        outputs = tf.one_hot(
            labels, num_classes, on_value=on_value, off_value=off_value
        )
        return common.finish(outputs, None, outputs_collections, place)


@add_arg_scope
def repeat(
    inputs: Any, repetitions: int, layer: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """The same layer several times in a row, in scopes ``NAME/NAME_1`` and on."""
    scope = kwargs.pop("scope", None)
    with tf.variable_scope(scope, "Repeat", [inputs]):
        inputs = tf.convert_to_tensor(inputs)
        if scope is None:
            scope = _layer_name(layer, "repeat")
        outputs = inputs
        for number in range(repetitions):
            kwargs["scope"] = f"{scope}_{number + 1}"
            outputs = layer(outputs, *args, **kwargs)
        return outputs


@add_arg_scope
def stack(
    inputs: Any, layer: Callable[..., Any], stack_args: Any, **kwargs: Any
) -> Any:
    """One layer per entry of ``stack_args``, each with its own arguments."""
    scope = kwargs.pop("scope", None)
    if not isinstance(stack_args, list | tuple):
        raise TypeError("stack_args need to be a list or tuple")
    with tf.variable_scope(scope, "Stack", [inputs]):
        inputs = tf.convert_to_tensor(inputs)
        if scope is None:
            scope = _layer_name(layer, "stack")
        outputs = inputs
        for number, entry in enumerate(stack_args):
            kwargs["scope"] = f"{scope}_{number + 1}"
            entry = entry if isinstance(entry, list | tuple) else [entry]
            outputs = layer(outputs, *entry, **kwargs)
        return outputs


def _layer_name(layer: Any, default: str) -> str:
    if hasattr(layer, "__name__"):
        return str(layer.__name__)
    inner = getattr(getattr(layer, "func", None), "__name__", None)
    return str(inner or default)


@add_arg_scope
def softmax(logits: Any, scope: Any = None) -> Any:
    """Softmax over the last dimension of a tensor of any rank."""
    with tf.variable_scope(scope, "softmax", [logits]):
        return tf.nn.softmax(logits)


@add_arg_scope
def unit_norm(inputs: Any, dim: int, epsilon: float = 1e-7, scope: Any = None) -> Any:
    """Divide by the L2 norm along one dimension."""
    with tf.variable_scope(scope, "UnitNorm", [inputs]):
        if not inputs.get_shape().ndims:
            raise ValueError("The input rank must be known.")
        if not 0 <= dim < inputs.get_shape().ndims:
            raise ValueError(f"dim must be in [0, {inputs.get_shape().ndims - 1}].")
        squares = tf.reduce_sum(tf.square(inputs), axis=dim, keepdims=True)
        return tf.div(inputs, tf.sqrt(squares + epsilon))


@add_arg_scope
def maxout(inputs: Any, num_units: int, axis: int = -1, scope: Any = None) -> Any:
    """The greatest of each group of features."""
    with tf.variable_scope(scope, "MaxOut", [inputs]):
        inputs = tf.convert_to_tensor(inputs)
        shape = inputs.get_shape().as_list()
        channels = shape[axis]
        if channels is None or channels % num_units:
            raise ValueError(
                f"number of features({channels}) is not a multiple of "
                f"num_units({num_units})"
            )
        sizes = [-1 if size is None else size for size in shape]
        place = axis % len(sizes)
        sizes[place : place + 1] = [num_units, channels // num_units]
        return tf.reduce_max(tf.reshape(inputs, sizes), place + 1)


@add_arg_scope
def embed_sequence(
    ids: Any,
    vocab_size: int | None = None,
    embed_dim: int | None = None,
    unique: bool = False,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> Any:
    """Embeddings of a batch of symbol sequences."""
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(
            "Must specify vocab size and embedding dimension when not reusing. "
            f"Got vocab_size={vocab_size} and embed_dim={embed_dim}"
        )
    with tf.variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        shape = [vocab_size, embed_dim] if not (reuse and vocab_size is None) else None
        embeddings = common.layer_variable(
            "embeddings",
            shape,
            tf.float32,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
        )
        if unique:
            from .sparse import embedding_lookup_unique

            return embedding_lookup_unique(embeddings, ids)
        return tf.nn.embedding_lookup(embeddings, ids)
