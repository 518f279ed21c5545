"""Functions of tf.contrib.layers and slim that become layers of Keras."""

from __future__ import annotations

_PLACES = ("tf.contrib.layers.", "tf.contrib.slim.", "tf.contrib.nn.")
_REST = (
    "activation_fn", "normalizer_fn", "normalizer_params", "weights_initializer",
    "weights_regularizer", "biases_initializer", "biases_regularizer", "reuse",
    "variables_collections", "outputs_collections", "trainable", "scope",
)  # fmt: skip
_CONV = (
    "inputs", "num_outputs", "kernel_size", "stride", "padding", "data_format", "rate",
    *_REST,
)  # fmt: skip
_POOL = (
    "inputs", "kernel_size", "stride", "padding", "data_format", "outputs_collections",
    "scope",
)  # fmt: skip

_NORM = (
    "center", "scale", "epsilon", "activation_fn", "param_initializers", "reuse",
    "variables_collections", "outputs_collections", "trainable",
)  # fmt: skip

# Functions of tf.contrib.layers and slim: their parameters, the input first.
SIGNATURES: dict[str, tuple[str, ...]] = {
    "fully_connected": ("inputs", "num_outputs", *_REST),
    "conv1d": _CONV,
    "conv2d": _CONV,
    "conv3d": _CONV,
    "conv2d_transpose": tuple(name for name in _CONV if name != "rate"),
    "separable_conv2d": (
        *_CONV[:3], "depth_multiplier", *_CONV[3:7], *_REST[:4],
        "pointwise_initializer", *_REST[4:],
    ),
    "batch_norm": (
        "inputs", "decay", "center", "scale", "epsilon", "activation_fn",
        "param_initializers", "param_regularizers", "updates_collections",
        "is_training", "reuse", "variables_collections", "outputs_collections",
        "trainable", "batch_weights", "fused", "data_format",
        "zero_debias_moving_mean", "scope", "renorm", "renorm_clipping",
        "renorm_decay", "adjustment",
    ),
    "layer_norm": (
        "inputs", "center", "scale", "activation_fn", "reuse", "variables_collections",
        "outputs_collections", "trainable", "begin_norm_axis", "begin_params_axis",
        "scope",
    ),
    "group_norm": (
        "inputs", "groups", "channels_axis", "reduction_axes", *_NORM, "scope",
        "mean_close_to_zero",
    ),
    "instance_norm": ("inputs", *_NORM, "data_format", "scope"),
    "max_pool2d": _POOL,
    "avg_pool2d": _POOL,
    "max_pool3d": _POOL,
    "avg_pool3d": _POOL,
    "flatten": ("inputs", "outputs_collections", "scope"),
    "dropout": (
        "inputs", "keep_prob", "noise_shape", "is_training", "outputs_collections",
        "scope", "seed",
    ),
    "alpha_dropout": ("x", "keep_prob", "noise_shape", "seed", "name"),
    "embed_sequence": (
        "ids", "vocab_size", "embed_dim", "unique", "initializer", "regularizer",
        "trainable", "scope", "reuse",
    ),
}  # fmt: skip
WITHOUT_WEIGHTS = (
    "flatten", "dropout", "alpha_dropout", "max_pool2d", "avg_pool2d", "max_pool3d",
    "avg_pool3d",
)  # fmt: skip
SIGNATURES |= dict.fromkeys(("linear", "relu", "relu6"), SIGNATURES["fully_connected"])
_ALIASES = {
    "convolution1d": "conv1d",
    "convolution2d": "conv2d",
    "convolution3d": "conv3d",
    "convolution2d_transpose": "conv2d_transpose",
    "separable_convolution2d": "separable_conv2d",
}


def contrib_name(symbol: str | None) -> str | None:
    """`conv2d` of a function of tf.contrib.layers or slim."""
    for place in _PLACES:
        if symbol is not None and symbol.startswith(place):
            name = symbol.removeprefix(place).removeprefix("initializers.")
            return _ALIASES.get(name, name)
    return None
