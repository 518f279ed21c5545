"""Batch, layer, instance and group normalisation."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from ..framework.scopes import add_arg_scope
from . import common
from .dense import when

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm"]

_ZEROS = tf.zeros_initializer()
_ONES = tf.ones_initializer()


@add_arg_scope
def batch_norm(
    inputs: Any,
    decay: float = 0.999,
    center: bool = True,
    scale: bool = False,
    epsilon: float = 0.001,
    activation_fn: Any = None,
    param_initializers: Any = None,
    param_regularizers: Any = None,
    updates_collections: Any = tf.GraphKeys.UPDATE_OPS,
    is_training: Any = True,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    batch_weights: Any = None,
    fused: bool | None = None,
    data_format: str = "NHWC",
    zero_debias_moving_mean: bool = False,
    scope: Any = None,
    renorm: bool = False,
    renorm_clipping: Any = None,
    renorm_decay: float = 0.99,
    adjustment: Any = None,
) -> Any:
    """Batch normalisation; the moving averages move through UPDATE_OPS."""
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    for asked, name in (
        (zero_debias_moving_mean, "zero_debias_moving_mean"),
        (renorm or renorm_clipping is not None, "renorm"),
        (adjustment is not None, "adjustment"),
    ):
        if asked:
            raise ValueError(
                f"batch_norm(..., {name}) is not supported here; "
                "tf.layers.batch_normalization offers renorm."
            )
    del renorm_decay
    with tf.variable_scope(scope, "BatchNorm", [inputs], reuse=reuse) as place:
        inputs = tf.convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if rank is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank")
        axis = 1 if data_format == "NCHW" and rank > 2 else rank - 1
        units = tf.dimension_value(inputs.get_shape()[axis])
        if units is None:
            raise ValueError(f"Inputs {inputs.name} has undefined channels dimension")
        dtype = tf.float32 if inputs.dtype == tf.float16 else inputs.dtype.base_dtype
        state = _BatchNormState(
            units,
            dtype,
            center=center,
            scale=scale,
            initializers=param_initializers or {},
            regularizers=param_regularizers or {},
            collections=variables_collections,
            trainable=trainable,
            # TF 1.15 built the common case from tf.layers, which creates gamma
            # first, and the others by itself, beta first.
            gamma_first=batch_weights is None
            and updates_collections == tf.GraphKeys.UPDATE_OPS,
        )
        can_fuse = batch_weights is None and rank in (2, 4)
        if fused is False or not can_fuse:
            outputs, mean, variance = _plain(
                inputs, state, axis, epsilon, is_training, batch_weights
            )
        else:
            outputs, mean, variance = _fused(
                inputs, state, data_format, epsilon, is_training
            )
        outputs = _with_updates(
            outputs, state, mean, variance, decay, is_training, updates_collections
        )
        return common.finish(outputs, activation_fn, outputs_collections, place)


class _BatchNormState:
    """The four vectors of one batch normalisation."""

    def __init__(
        self,
        units: int,
        dtype: Any,
        *,
        center: bool,
        scale: bool,
        initializers: Any,
        regularizers: Any,
        collections: Any,
        trainable: bool,
        gamma_first: bool,
    ) -> None:
        def learned(name: str, default: Any, wanted: bool) -> Any:
            if not wanted:
                return tf.constant(0.0 if name == "beta" else 1.0, dtype, [units])
            return common.layer_variable(
                name,
                [units],
                dtype,
                initializer=initializers.get(name, default),
                regularizer=regularizers.get(name),
                variables_collections=collections,
                trainable=trainable,
            )

        def moving(name: str, default: Any) -> Any:
            # Each replica moves its own copy; readers see their mean.
            return common.layer_variable(
                name,
                [units],
                dtype,
                initializer=initializers.get(name, default),
                variables_collections=collections,
                trainable=False,
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=tf.VariableAggregation.MEAN,
            )

        if gamma_first:
            self.gamma = learned("gamma", _ONES, scale)
        self.beta = learned("beta", _ZEROS, center)
        if not gamma_first:
            self.gamma = learned("gamma", _ONES, scale)
        self.moving_mean = moving("moving_mean", _ZEROS)
        self.moving_variance = moving("moving_variance", _ONES)


def _fused(
    inputs: Any, state: _BatchNormState, data_format: str, epsilon: float, training: Any
) -> tuple[Any, Any, Any]:
    shape = inputs.get_shape()
    flat = shape.ndims == 2
    if flat:
        inputs = tf.reshape(inputs, [-1, 1, 1, tf.dimension_value(shape[1])])
        data_format = "NHWC"

    def now() -> tuple[Any, Any, Any]:
        return tuple(
            tf.nn.fused_batch_norm(
                *(inputs, state.gamma, state.beta),
                epsilon=epsilon,
                data_format=data_format,
            )
        )

    def later() -> tuple[Any, Any, Any]:
        outputs, _, _ = tf.nn.fused_batch_norm(
            inputs,
            state.gamma,
            state.beta,
            mean=tf.convert_to_tensor(state.moving_mean),
            variance=tf.convert_to_tensor(state.moving_variance),
            epsilon=epsilon,
            is_training=False,
            data_format=data_format,
        )
        return (
            outputs,
            tf.convert_to_tensor(state.moving_mean),
            tf.convert_to_tensor(state.moving_variance),
        )

    outputs, mean, variance = when(training, now, later)
    if flat:
        outputs = tf.reshape(outputs, tf.shape(inputs)[::3])
    outputs.set_shape(shape)
    return outputs, mean, variance


def _plain(
    inputs: Any,
    state: _BatchNormState,
    axis: int,
    epsilon: float,
    training: Any,
    batch_weights: Any,
) -> tuple[Any, Any, Any]:
    rank = inputs.get_shape().ndims
    axes = [i for i in range(rank) if i != axis]

    def now() -> tuple[Any, Any]:
        if batch_weights is None:
            return tf.nn.moments(inputs, axes)  # type: ignore[no-any-return]
        weights = tf.reshape(batch_weights, [-1] + [1] * (rank - 1))
        return tf.nn.weighted_moments(  # type: ignore[no-any-return]
            inputs, axes, tf.cast(weights, inputs.dtype)
        )

    mean, variance = when(
        training,
        now,
        lambda: (
            tf.convert_to_tensor(state.moving_mean),
            tf.convert_to_tensor(state.moving_variance),
        ),
    )
    shape = [1] * rank
    shape[axis] = -1
    outputs = tf.nn.batch_normalization(
        inputs,
        *(tf.reshape(v, shape) for v in (mean, variance, state.beta, state.gamma)),
        epsilon,
    )
    outputs.set_shape(inputs.get_shape())
    return outputs, mean, variance


def _with_updates(
    outputs: Any,
    state: _BatchNormState,
    mean: Any,
    variance: Any,
    decay: float,
    training: Any,
    collections: Any,
) -> Any:
    value = tf.get_static_value(training) if tf.is_tensor(training) else training
    if value is not None and not value:
        return outputs

    def moves() -> list[Any]:
        return [
            tf.assign_sub(
                moving,
                (moving - tf.cast(batch, moving.dtype)) * (1.0 - decay),
                name=name,
            )
            for moving, batch, name in (
                (state.moving_mean, mean, "AssignMovingAvg"),
                (state.moving_variance, variance, "AssignMovingAvg_1"),
            )
        ]

    if value is None:
        # Outside training `mean` is the moving mean itself: the move is zero.
        updates = moves()
    else:
        updates = moves()
    if collections is None:
        with tf.control_dependencies(updates):
            return tf.identity(outputs)
    names = [collections] if isinstance(collections, str) else list(collections)
    for update in updates:
        tf.add_to_collections(names, update)
    return outputs


@add_arg_scope
def layer_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    activation_fn: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    begin_norm_axis: int = 1,
    begin_params_axis: int = -1,
    scope: Any = None,
) -> Any:
    """Normalise each example over its own features (epsilon 1e-12)."""
    with tf.variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as place:
        inputs = tf.convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if rank is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        first_norm = begin_norm_axis % rank if begin_norm_axis < 0 else begin_norm_axis
        if begin_params_axis >= rank or first_norm >= rank:
            raise ValueError(
                f"begin_params_axis ({begin_params_axis}) and begin_norm_axis "
                f"({first_norm}) must be < rank(inputs) ({rank})"
            )
        shape = inputs.get_shape()[begin_params_axis:]
        if not shape.is_fully_defined():
            raise ValueError(
                f"Inputs {inputs.name}: shape(inputs)[{begin_params_axis}:] is not "
                f"fully defined: {inputs.get_shape()}"
            )
        beta, gamma = _beta_gamma(
            shape.as_list(),
            inputs.dtype.base_dtype,
            center,
            scale,
            variables_collections,
            trainable,
        )
        mean, variance = tf.nn.moments(
            inputs, list(range(first_norm, rank)), keepdims=True
        )
        epsilon = 1e-3 if inputs.dtype == tf.float16 else 1e-12
        outputs = tf.nn.batch_normalization(
            inputs, mean, variance, offset=beta, scale=gamma, variance_epsilon=epsilon
        )
        outputs.set_shape(inputs.get_shape())
        return common.finish(outputs, activation_fn, outputs_collections, place)


def _beta_gamma(
    shape: Any,
    dtype: Any,
    center: bool,
    scale: bool,
    collections: Any,
    trainable: bool,
    initializers: Any = None,
) -> tuple[Any, Any]:
    initializers = initializers or {}
    found = []
    for name, wanted, default in (("beta", center, _ZEROS), ("gamma", scale, _ONES)):
        found.append(
            common.layer_variable(
                name,
                shape,
                dtype,
                initializer=initializers.get(name, default),
                variables_collections=collections,
                trainable=trainable,
            )
            if wanted
            else None
        )
    return found[0], found[1]


@add_arg_scope
def instance_norm(
    inputs: Any,
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Any = None,
    param_initializers: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: Any = None,
) -> Any:
    """Normalise each channel of each example over its positions."""
    with tf.variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as place:
        inputs = tf.convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if data_format not in ("NHWC", "NCHW"):
            raise ValueError("data_format has to be either NCHW or NHWC.")
        axis = 1 if data_format == "NCHW" else rank - 1
        units = tf.dimension_value(inputs.get_shape()[axis])
        beta, gamma = _beta_gamma(
            [units],
            inputs.dtype.base_dtype,
            center,
            scale,
            variables_collections,
            trainable,
            param_initializers,
        )
        shape = [1] * rank
        shape[axis] = units
        mean, variance = tf.nn.moments(
            inputs, [i for i in range(1, rank) if i != axis], keepdims=True
        )
        outputs = tf.nn.batch_normalization(
            inputs,
            mean,
            variance,
            None if beta is None else tf.reshape(beta, shape),
            None if gamma is None else tf.reshape(gamma, shape),
            epsilon,
        )
        outputs.set_shape(inputs.get_shape())
        return common.finish(outputs, activation_fn, outputs_collections, place)


@add_arg_scope
def group_norm(
    inputs: Any,
    groups: int = 32,
    channels_axis: int = -1,
    reduction_axes: Any = (-3, -2),
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Any = None,
    param_initializers: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    mean_close_to_zero: bool = False,
) -> Any:
    """Normalise groups of channels of each example over the reduction axes."""
    del mean_close_to_zero  # chose between two ways to the same moments
    with tf.variable_scope(scope, "GroupNorm", [inputs], reuse=reuse) as place:
        inputs = tf.convert_to_tensor(inputs)
        static = inputs.get_shape().as_list()
        rank = len(static)
        axis = channels_axis % rank
        reduced = sorted(a % rank for a in reduction_axes)
        units = static[axis]
        if units is None or units % groups:
            raise ValueError(f"{groups} groups do not divide {units} channels.")
        if axis in reduced:
            raise ValueError("reduction_axes must not contain channels_axis")
        beta, gamma = _beta_gamma(
            [units],
            inputs.dtype.base_dtype,
            center,
            scale,
            variables_collections,
            trainable,
            param_initializers,
        )
        dynamic = tf.shape(inputs)
        sizes = [dynamic[i] if size is None else size for i, size in enumerate(static)]
        split = [*sizes[:axis], groups, units // groups, *sizes[axis + 1 :]]
        grouped = tf.reshape(inputs, split)
        axes = [a if a < axis else a + 1 for a in reduced] + [axis + 1]
        mean, variance = tf.nn.moments(grouped, axes, keepdims=True)
        shape = [1] * (rank + 1)
        shape[axis : axis + 2] = [groups, units // groups]
        outputs = tf.nn.batch_normalization(
            grouped,
            mean,
            variance,
            None if beta is None else tf.reshape(beta, shape),
            None if gamma is None else tf.reshape(gamma, shape),
            epsilon,
        )
        outputs = tf.reshape(outputs, sizes)
        outputs.set_shape(inputs.get_shape())
        return common.finish(outputs, activation_fn, outputs_collections, place)
