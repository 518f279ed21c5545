"""Layer functions of TF1 and the Keras layers that make the same variables."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CONV = (
    "filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate",
    "activation", "use_bias", "kernel_initializer", "bias_initializer",
    "kernel_regularizer", "bias_regularizer", "activity_regularizer",
    "kernel_constraint", "bias_constraint", "trainable", "name", "reuse",
)  # fmt: skip
_TRANSPOSE = tuple(name for name in _CONV if name != "dilation_rate")
_SEPARABLE = (
    *_CONV[:6], "depth_multiplier", "activation", "use_bias", "depthwise_initializer",
    "pointwise_initializer", "bias_initializer", "depthwise_regularizer",
    "pointwise_regularizer", "bias_regularizer", "activity_regularizer",
    "depthwise_constraint", "pointwise_constraint", "bias_constraint", "trainable",
    "name", "reuse",
)  # fmt: skip
_POOL = ("pool_size", "strides", "padding", "data_format", "name")
_DENSE = (
    "units", "activation", "use_bias", "kernel_initializer", "bias_initializer",
    "kernel_regularizer", "bias_regularizer", "activity_regularizer",
    "kernel_constraint", "bias_constraint", "trainable", "name", "reuse",
)  # fmt: skip
_NORMALIZATION = (
    "axis", "momentum", "epsilon", "center", "scale", "beta_initializer",
    "gamma_initializer", "moving_mean_initializer", "moving_variance_initializer",
    "beta_regularizer", "gamma_regularizer", "beta_constraint", "gamma_constraint",
    "training", "trainable", "name", "reuse", "renorm", "renorm_clipping",
    "renorm_momentum", "fused", "virtual_batch_size", "adjustment",
)  # fmt: skip


@dataclass(frozen=True)
class LayerFunction:
    """A function of tf.layers: its Keras class, parameters after ``inputs``.

    ``plain`` parameters may stay positional; ``at_call`` are those that Keras
    takes when the layer is called.
    """

    keras: str
    parameters: tuple[str, ...]
    plain: int = 0
    at_call: tuple[str, ...] = ()
    # What the function calls its first parameter.
    inputs: str = "inputs"

    @property
    def parameters_of_class(self) -> tuple[str, ...]:
        """What the layer's class takes: not what is given when it is called."""
        return tuple(name for name in self.parameters if name not in self.at_call)


_KINDS = {
    "dense": LayerFunction("Dense", _DENSE, 1),
    "conv1d": LayerFunction("Conv1D", _CONV, 2),
    "conv2d": LayerFunction("Conv2D", _CONV, 2),
    "conv3d": LayerFunction("Conv3D", _CONV, 2),
    "conv2d_transpose": LayerFunction("Conv2DTranspose", _TRANSPOSE, 2),
    "conv3d_transpose": LayerFunction("Conv3DTranspose", _TRANSPOSE, 2),
    "separable_conv1d": LayerFunction("SeparableConv1D", _SEPARABLE, 2),
    "separable_conv2d": LayerFunction("SeparableConv2D", _SEPARABLE, 2),
    "max_pooling1d": LayerFunction("MaxPooling1D", _POOL, 2),
    "max_pooling2d": LayerFunction("MaxPooling2D", _POOL, 2),
    "max_pooling3d": LayerFunction("MaxPooling3D", _POOL, 2),
    "average_pooling1d": LayerFunction("AveragePooling1D", _POOL, 2),
    "average_pooling2d": LayerFunction("AveragePooling2D", _POOL, 2),
    "average_pooling3d": LayerFunction("AveragePooling3D", _POOL, 2),
    "flatten": LayerFunction("Flatten", ("name", "data_format")),
    "dropout": LayerFunction(
        "Dropout", ("rate", "noise_shape", "seed", "training", "name"), 1, ("training",)
    ),
    "batch_normalization": LayerFunction(
        "BatchNormalization", _NORMALIZATION, 0, ("training",)
    ),
}

# tf.layers.conv2d(x, ...) and the like
LAYERS = {f"tf.layers.{name}": kind for name, kind in _KINDS.items()}
# Collections and dicts to fill are not taken: such a call is not lifted.
LAYERS["tf.feature_column.input_layer"] = LayerFunction(
    "DenseFeatures", ("feature_columns", "trainable"), 1, inputs="features"
)
# tf.layers.Conv2D(...), called later
CLASSES = {f"tf.layers.{kind.keras}": kind for kind in _KINDS.values()}
# Layers that are the same in each round of a loop.
EMPTY = re.compile(
    r"\.(Activation|ReLU|Flatten|\w+Pooling\dD|flatten|(max|average)_pooling\dd)$"
)
# Layers of Keras that do something else while a model trains.
_TRAINED = ("Dropout", "Noise", "BatchNormalization")


def at_call(symbol: str) -> tuple[str, ...]:
    """What a layer is given when it is called, and is off if nobody gives it."""
    if symbol in CLASSES:
        return CLASSES[symbol].at_call
    return ("training",) if any(one in symbol for one in _TRAINED) else ()


# tf.get_variable
GET_VARIABLE = (
    "name", "shape", "dtype", "initializer", "regularizer", "trainable", "collections",
    "caching_device", "partitioner", "validate_shape", "use_resource", "custom_getter",
    "constraint", "synchronization", "aggregation",
)  # fmt: skip
# What a layer of tf.layers leaves to the scope around it, if it is not told.
STARTS = {
    **dict.fromkeys(
        ("Dense", "Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "Conv3DTranspose"),
        ("kernel_initializer",),
    ),
    **dict.fromkeys(
        ("SeparableConv1D", "SeparableConv2D"),
        ("depthwise_initializer", "pointwise_initializer"),
    ),
}
