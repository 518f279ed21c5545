"""tf.layers functions and the Keras layers that make the same variables."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["LAYERS", "LayerFunction"]

_CONV = (
    "filters",
    "kernel_size",
    "strides",
    "padding",
    "data_format",
    "dilation_rate",
    "activation",
    "use_bias",
    "kernel_initializer",
    "bias_initializer",
    "kernel_regularizer",
    "bias_regularizer",
    "activity_regularizer",
    "kernel_constraint",
    "bias_constraint",
    "trainable",
    "name",
    "reuse",
)
_POOL = ("pool_size", "strides", "padding", "data_format", "name")


@dataclass(frozen=True)
class LayerFunction:
    """A function of tf.layers: its Keras class, parameters after ``inputs``.

    ``at_call`` are parameters that Keras takes when the layer is called, ``inputs``
    is what the function calls its first one.
    """

    keras: str
    parameters: tuple[str, ...]
    at_call: tuple[str, ...] = ()
    inputs: str = "inputs"


LAYERS: dict[str, LayerFunction] = {
    # Collections and dicts to fill are not taken: such a call stays as it is.
    "tf.feature_column.input_layer": LayerFunction(
        "DenseFeatures", ("feature_columns", "trainable"), inputs="features"
    ),
    "tf.layers.dense": LayerFunction(
        "Dense",
        (
            "units",
            "activation",
            "use_bias",
            "kernel_initializer",
            "bias_initializer",
            "kernel_regularizer",
            "bias_regularizer",
            "activity_regularizer",
            "kernel_constraint",
            "bias_constraint",
            "trainable",
            "name",
            "reuse",
        ),
    ),
    "tf.layers.conv1d": LayerFunction("Conv1D", _CONV),
    "tf.layers.conv2d": LayerFunction("Conv2D", _CONV),
    "tf.layers.max_pooling1d": LayerFunction("MaxPooling1D", _POOL),
    "tf.layers.max_pooling2d": LayerFunction("MaxPooling2D", _POOL),
    "tf.layers.average_pooling2d": LayerFunction("AveragePooling2D", _POOL),
    "tf.layers.flatten": LayerFunction("Flatten", ("name", "data_format")),
    "tf.layers.dropout": LayerFunction(
        "Dropout",
        ("rate", "noise_shape", "seed", "training", "name"),
        ("training",),
    ),
    "tf.layers.batch_normalization": LayerFunction(
        "BatchNormalization",
        (
            "axis",
            "momentum",
            "epsilon",
            "center",
            "scale",
            "beta_initializer",
            "gamma_initializer",
            "moving_mean_initializer",
            "moving_variance_initializer",
            "beta_regularizer",
            "gamma_regularizer",
            "beta_constraint",
            "gamma_constraint",
            "training",
            "trainable",
            "name",
            "reuse",
        ),
        ("training",),
    ),
}
