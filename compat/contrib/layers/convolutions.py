"""Convolutions and pooling."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

from ..framework.scopes import add_arg_scope
from . import common
from .initializers import xavier_initializer

__all__ = [
    "avg_pool2d",
    "avg_pool3d",
    "conv1d",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "convolution",
    "convolution1d",
    "convolution2d",
    "convolution2d_transpose",
    "convolution3d",
    "convolution3d_transpose",
    "max_pool2d",
    "max_pool3d",
    "separable_conv2d",
    "separable_convolution2d",
    "spatial_softmax",
]

_ZEROS = tf.zeros_initializer()
_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


def _tuple(value: Any, size: int) -> tuple[int, ...]:
    if isinstance(value, int):
        return (value,) * size
    found = tuple(int(tf.dimension_value(item)) for item in value)
    if len(found) == 1:
        found *= size
    if len(found) != size:
        raise ValueError(f"expected {size} values, got {value}")
    return found


def _same_valid(padding: Any) -> str:
    name = str(padding).upper()
    if name not in ("SAME", "VALID"):
        raise ValueError(f"padding must be SAME or VALID, got {padding}")
    return name


@add_arg_scope
def convolution(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: Any = 1,
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
    conv_dims: int | None = None,
) -> Any:
    """An N-D convolution with biases (or a normaliser) and ReLU by default."""
    if data_format not in (
        None,
        *[name for pair in _FORMATS.values() for name in pair],
    ):
        raise ValueError(f"Invalid data_format: {data_format!r}")
    with tf.variable_scope(scope, "Conv", [inputs], reuse=reuse) as place:
        inputs = tf.convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if rank is None:
            raise ValueError("Rank of convolution must be known")
        if conv_dims is not None and conv_dims + 2 != rank:
            raise ValueError(
                f"Convolution expects input with rank {conv_dims + 2}, got {rank}"
            )
        if rank not in (3, 4, 5):
            raise ValueError(f"Convolution not supported for input with rank {rank}")
        dims = rank - 2
        channels_first = data_format is not None and data_format.startswith("NC")
        depth = tf.dimension_value(inputs.get_shape()[1 if channels_first else -1])
        if depth is None:
            raise ValueError("The number of input channels must be known")
        weights = common.layer_variable(
            "weights",
            [*_tuple(kernel_size, dims), depth, num_outputs],
            inputs.dtype.base_dtype,
            initializer=weights_initializer,
            regularizer=weights_regularizer,
            variables_collections=variables_collections,
            trainable=trainable,
        )
        outputs = tf.nn.convolution(
            inputs,
            weights,
            padding=_same_valid(padding),
            strides=_tuple(stride, dims),
            dilations=_tuple(rate, dims),
            data_format=_FORMATS[dims][1 if channels_first else 0],
            name=f"Conv{dims}D",
        )
        outputs = common.normalized_or_biased(
            outputs,
            num_outputs,
            normalizer_fn=normalizer_fn,
            normalizer_params=normalizer_params,
            biases_initializer=biases_initializer,
            biases_regularizer=biases_regularizer,
            variables_collections=variables_collections,
            trainable=trainable,
            data_format=data_format,
        )
        return common.finish(outputs, activation_fn, outputs_collections, place)


def _fixed_rank(dims: int) -> Any:
    def conv(*args: Any, **kwargs: Any) -> Any:
        kwargs.setdefault("conv_dims", dims)
        return convolution(*args, **kwargs)

    conv.__name__ = conv.__qualname__ = f"convolution{dims}d"
    conv.__doc__ = f"`convolution` of inputs with {dims} spatial dimension(s)."
    conv.__module__ = __name__
    return add_arg_scope(conv)


convolution1d = conv1d = _fixed_rank(1)
convolution2d = conv2d = _fixed_rank(2)
convolution3d = conv3d = _fixed_rank(3)


def _length(size: Any, kernel: int, stride: int, padding: str) -> Any:
    longer = size * stride
    return longer + max(kernel - stride, 0) if padding == "VALID" else longer


def _transpose(
    dims: int,
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any,
    padding: str,
    data_format: str,
    options: dict[str, Any],
) -> Any:
    name = f"Conv{dims}d_transpose"
    if data_format not in _FORMATS[dims]:
        raise ValueError(f"data_format has to be one of {_FORMATS[dims]}.")
    with tf.variable_scope(
        options["scope"], name, [inputs], reuse=options["reuse"]
    ) as place:
        inputs = tf.convert_to_tensor(inputs)
        channels_first = data_format.startswith("NC")
        axis = 1 if channels_first else -1
        kernel, steps = _tuple(kernel_size, dims), _tuple(stride, dims)
        padding = _same_valid(padding)
        weights = common.layer_variable(
            "weights",
            [*kernel, num_outputs, tf.dimension_value(inputs.get_shape()[axis])],
            inputs.dtype.base_dtype,
            initializer=options["weights_initializer"],
            regularizer=options["weights_regularizer"],
            variables_collections=options["variables_collections"],
            trainable=options["trainable"],
        )
        static, dynamic = inputs.get_shape().as_list(), tf.shape(inputs)
        first = 2 if channels_first else 1
        known: list[Any] = []
        sizes: list[Any] = []
        for place_, (k, s) in enumerate(zip(kernel, steps, strict=True), start=first):
            size = static[place_]
            known.append(None if size is None else _length(size, k, s, padding))
            sizes.append(
                _length(dynamic[place_] if size is None else size, k, s, padding)
            )
        batch = [dynamic[0]]
        shape = (
            [*batch, num_outputs, *sizes]
            if channels_first
            else [*batch, *sizes, num_outputs]
        )
        outputs = tf.nn.conv_transpose(
            inputs,
            weights,
            output_shape=tf.stack(shape),
            strides=list(steps),
            padding=padding,
            data_format=data_format,
        )
        outputs.set_shape(
            [static[0], num_outputs, *known]
            if channels_first
            else [static[0], *known, num_outputs]
        )
        outputs = common.normalized_or_biased(
            outputs,
            num_outputs,
            normalizer_fn=options["normalizer_fn"],
            normalizer_params=options["normalizer_params"],
            biases_initializer=options["biases_initializer"],
            biases_regularizer=options["biases_regularizer"],
            variables_collections=options["variables_collections"],
            trainable=options["trainable"],
            data_format=data_format,
        )
        return common.finish(
            outputs, options["activation_fn"], options["outputs_collections"], place
        )


@add_arg_scope
def convolution2d_transpose(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
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
    """The transpose (gradient) of a 2-D convolution."""
    options = dict(locals())
    for name in ("inputs", "num_outputs", "kernel_size", "stride", "padding"):
        del options[name]
    del options["data_format"]
    return _transpose(
        2, inputs, num_outputs, kernel_size, stride, padding, data_format, options
    )


@add_arg_scope
def convolution3d_transpose(
    inputs: Any,
    num_outputs: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NDHWC",
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
    """The transpose (gradient) of a 3-D convolution."""
    options = dict(locals())
    for name in ("inputs", "num_outputs", "kernel_size", "stride", "padding"):
        del options[name]
    del options["data_format"]
    return _transpose(
        3, inputs, num_outputs, kernel_size, stride, padding, data_format, options
    )


conv2d_transpose = convolution2d_transpose
conv3d_transpose = convolution3d_transpose


@add_arg_scope
def separable_convolution2d(
    inputs: Any,
    num_outputs: int | None,
    kernel_size: Any,
    depth_multiplier: int = 1,
    stride: Any = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    rate: Any = 1,
    activation_fn: Any = tf.nn.relu,
    normalizer_fn: Any = None,
    normalizer_params: Any = None,
    weights_initializer: Any = xavier_initializer(),  # noqa: B008
    pointwise_initializer: Any = None,
    weights_regularizer: Any = None,
    biases_initializer: Any = _ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """A depthwise convolution, and a pointwise one unless ``num_outputs`` is None."""
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    with tf.variable_scope(scope, "SeparableConv2d", [inputs], reuse=reuse) as place:
        inputs = tf.convert_to_tensor(inputs)
        channels_first = data_format == "NCHW"
        depth = tf.dimension_value(inputs.get_shape()[1 if channels_first else 3])
        height, width = _tuple(stride, 2)
        strides = [1, 1, height, width] if channels_first else [1, height, width, 1]
        dtype = inputs.dtype.base_dtype
        depthwise = common.layer_variable(
            "depthwise_weights",
            [*_tuple(kernel_size, 2), depth, depth_multiplier],
            dtype,
            initializer=weights_initializer,
            regularizer=weights_regularizer,
            variables_collections=variables_collections,
            trainable=trainable,
        )
        outputs = tf.nn.depthwise_conv2d(
            inputs,
            depthwise,
            strides,
            _same_valid(padding),
            rate=_tuple(rate, 2),
            data_format=data_format,
        )
        units = depth_multiplier * depth
        if num_outputs is not None:
            pointwise = common.layer_variable(
                "pointwise_weights",
                [1, 1, units, num_outputs],
                dtype,
                initializer=pointwise_initializer or weights_initializer,
                regularizer=weights_regularizer,
                variables_collections=variables_collections,
                trainable=trainable,
            )
            outputs = tf.nn.conv2d(
                outputs, pointwise, [1, 1, 1, 1], "VALID", data_format=data_format
            )
            units = num_outputs
        outputs = common.normalized_or_biased(
            outputs,
            units,
            normalizer_fn=normalizer_fn,
            normalizer_params=normalizer_params,
            biases_initializer=biases_initializer,
            biases_regularizer=biases_regularizer,
            variables_collections=variables_collections,
            trainable=trainable,
            data_format=data_format,
        )
        return common.finish(outputs, activation_fn, outputs_collections, place)


separable_conv2d = separable_convolution2d


def _pool(
    kind: str,
    dims: int,
    inputs: Any,
    kernel_size: Any,
    stride: Any,
    padding: str,
    data_format: str,
    outputs_collections: Any,
    scope: Any,
) -> Any:
    if data_format not in _FORMATS[dims]:
        raise ValueError(f"data_format has to be one of {_FORMATS[dims]}.")
    label = "MaxPool" if kind == "MAX" else "AvgPool"
    with tf.name_scope(scope, f"{label}{dims}D", [inputs]) as place:
        outputs = tf.nn.pool(
            tf.convert_to_tensor(inputs),
            window_shape=_tuple(kernel_size, dims),
            pooling_type=kind,
            padding=_same_valid(padding),
            strides=_tuple(stride, dims),
            data_format=data_format,
        )
        return common.finish(outputs, None, outputs_collections, place)


@add_arg_scope
def max_pool2d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """2-D max pooling; stride 2 and no padding unless told otherwise."""
    return _pool(
        *("MAX", 2, inputs, kernel_size, stride),
        *(padding, data_format, outputs_collections, scope),
    )


@add_arg_scope
def max_pool3d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NDHWC",
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """3-D max pooling."""
    return _pool(
        *("MAX", 3, inputs, kernel_size, stride),
        *(padding, data_format, outputs_collections, scope),
    )


@add_arg_scope
def avg_pool2d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NHWC",
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """2-D average pooling."""
    return _pool(
        *("AVG", 2, inputs, kernel_size, stride),
        *(padding, data_format, outputs_collections, scope),
    )


@add_arg_scope
def avg_pool3d(
    inputs: Any,
    kernel_size: Any,
    stride: Any = 2,
    padding: str = "VALID",
    data_format: str = "NDHWC",
    outputs_collections: Any = None,
    scope: Any = None,
) -> Any:
    """3-D average pooling."""
    return _pool(
        *("AVG", 3, inputs, kernel_size, stride),
        *(padding, data_format, outputs_collections, scope),
    )


def spatial_softmax(
    features: Any,
    temperature: Any = None,
    name: str | None = None,
    variables_collections: Any = None,
    trainable: bool = True,
    data_format: str = "NHWC",
) -> Any:
    """The expected image position of each feature map."""
    with tf.variable_scope(name, "spatial_softmax"):
        if data_format == "NHWC":
            features = tf.transpose(features, [0, 3, 1, 2])
        elif data_format != "NCHW":
            raise ValueError("data_format has to be either NCHW or NHWC.")
        static, dynamic = features.get_shape().as_list(), tf.shape(features)
        channels, height, width = (
            dynamic[i] if static[i] is None else static[i] for i in (1, 2, 3)
        )
        if temperature is None:
            temperature = common.layer_variable(
                "temperature",
                (),
                tf.float32,
                initializer=tf.ones_initializer(),
                variables_collections=variables_collections,
                trainable=trainable,
            )
        x, y = tf.meshgrid(
            tf.linspace(-1.0, 1.0, height), tf.linspace(-1.0, 1.0, width), indexing="ij"
        )
        flat = tf.reshape(features, [-1, height * width])
        weights = tf.nn.softmax(flat / temperature)
        means = [
            tf.reduce_sum(tf.reshape(axis, [-1]) * weights, [1], keepdims=True)
            for axis in (x, y)
        ]
        outputs = tf.reshape(tf.concat(means, 1), [-1, channels * 2])
        outputs.set_shape([None, None if static[1] is None else static[1] * 2])
        return outputs
