"""Weight penalties. ``l2_regularizer(s)`` is ``s * sum(w**2) / 2``, half of Keras'."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

__all__ = [
    "apply_regularization",
    "l1_l2_regularizer",
    "l1_regularizer",
    "l2_regularizer",
    "sum_regularizer",
]

Penalty = Callable[[Any], Any]


def _check(scale: Any, *, at_most_one: bool) -> float:
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"scale cannot be an integer: {scale}")
    if isinstance(scale, numbers.Real):
        if scale < 0.0:
            raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale}")
        if at_most_one and float(scale) >= 1.0:
            raise ValueError(
                f"Setting a scale greater than 1 on a regularizer: {scale}"
            )
    return scale  # type: ignore[no-any-return]


def _nothing(_weights: Any) -> None:
    return None


def l1_regularizer(scale: Any, scope: str | None = None) -> Penalty:
    """``scale`` times the sum of absolute weights."""
    if _check(scale, at_most_one=False) == 0.0:
        tf.logging.info("Scale of 0 disables regularizer.")
        return _nothing

    def l1(weights: Any, name: str | None = None) -> Any:
        with tf.name_scope(scope, "l1_regularizer", [weights]) as place:
            factor = tf.convert_to_tensor(
                scale, dtype=weights.dtype.base_dtype, name="scale"
            )
            return tf.multiply(
                factor, tf.reduce_sum(tf.abs(weights)), name=name or place
            )

    return l1


def l2_regularizer(scale: Any, scope: str | None = None) -> Penalty:
    """``scale`` times half the sum of squared weights."""
    if _check(scale, at_most_one=False) == 0.0:
        tf.logging.info("Scale of 0 disables regularizer.")
        return _nothing

    def l2(weights: Any) -> Any:
        with tf.name_scope(scope, "l2_regularizer", [weights]) as place:
            factor = tf.convert_to_tensor(
                scale, dtype=weights.dtype.base_dtype, name="scale"
            )
            return tf.multiply(factor, tf.nn.l2_loss(weights), name=place)

    return l2


def l1_l2_regularizer(
    scale_l1: Any = 1.0, scale_l2: Any = 1.0, scope: str | None = None
) -> Penalty:
    """Both penalties added."""
    for scale in (scale_l1, scale_l2):
        if isinstance(scale, numbers.Integral):
            raise ValueError(f"scale cannot be an integer: {scale}")
    place = scope or "l1_l2_regularizer"
    if scale_l1 == 0.0:
        return l2_regularizer(scale_l2, place)
    if scale_l2 == 0.0:
        return l1_regularizer(scale_l1, place)
    return sum_regularizer(  # type: ignore[no-any-return]
        [l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope=place
    )


def sum_regularizer(
    regularizer_list: Sequence[Penalty | None], scope: str | None = None
) -> Any:
    """One penalty that adds up several."""
    penalties = [penalty for penalty in regularizer_list if penalty is not None]
    if not penalties:
        return None

    def total(weights: Any) -> Any:
        with tf.name_scope(scope, "sum_regularizer", [weights]) as place:
            found = [penalty(weights) for penalty in penalties]
            found = [tensor for tensor in found if tensor is not None]
            return tf.add_n(found, name=place) if found else None

    return total


def apply_regularization(
    regularizer: Penalty | None, weights_list: Sequence[Any] | None = None
) -> Any:
    """The summed penalty over weights (all in the WEIGHTS collection by default)."""
    if weights_list is None:
        weights_list = tf.get_collection(tf.GraphKeys.WEIGHTS)
    if not weights_list:
        raise ValueError("No weights to regularize.")
    with tf.name_scope("get_regularization_penalty", values=list(weights_list)) as name:
        penalties = [regularizer(w) for w in weights_list] if regularizer else []
        penalties = [
            tensor if tensor is not None else tf.constant(0.0) for tensor in penalties
        ]
        for tensor in penalties:
            if tensor.get_shape().ndims != 0:
                raise ValueError("regularizer must return a scalar Tensor")
        total = tf.add_n(penalties, name=name) if penalties else tf.constant(0.0)
        tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, total)
        return total
