"""TensorFlow functions without state: they mean the same inside a Keras model."""

from __future__ import annotations

__all__ = ["is_pure"]

# Pure functions of tensors, as far as a lifted forward pass may use them.
_PURE = (
    "tf.nn.",
    "tf.math.",
    "tf.image.",
    "tf.linalg.",
    "tf.strings.",
    "tf.abs",
    "tf.add",
    "tf.add_n",
    "tf.argmax",
    "tf.cast",
    "tf.concat",
    "tf.constant",
    "tf.equal",
    "tf.exp",
    "tf.expand_dims",
    "tf.identity",
    "tf.log",
    "tf.matmul",
    "tf.maximum",
    "tf.minimum",
    "tf.multiply",
    "tf.one_hot",
    "tf.pad",
    "tf.reduce_max",
    "tf.reduce_mean",
    "tf.reduce_sum",
    "tf.reshape",
    "tf.round",
    "tf.shape",
    "tf.sigmoid",
    "tf.size",
    "tf.sqrt",
    "tf.square",
    "tf.squared_difference",
    "tf.squeeze",
    "tf.stack",
    "tf.subtract",
    "tf.tanh",
    "tf.tile",
    "tf.to_float",
    "tf.to_int32",
    "tf.to_int64",
    "tf.transpose",
    "tf.zeros_like",
    "tf.ones_like",
)


def is_pure(symbol: str) -> bool:
    """The function makes no variables and has no effects."""
    return any(symbol.startswith(p) if p.endswith(".") else symbol == p for p in _PURE)
