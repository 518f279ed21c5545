"""``tf.contrib.nn``: dropout that keeps mean and deviation, losses of old."""

from __future__ import annotations

from typing import Any

import tensorflow.compat.v1 as tf

__all__ = [
    "alpha_dropout",
    "deprecated_flipped_sigmoid_cross_entropy_with_logits",
    "deprecated_flipped_softmax_cross_entropy_with_logits",
    "deprecated_flipped_sparse_softmax_cross_entropy_with_logits",
]

# What the self-normalizing activation tends to on its negative side.
_ALPHA = -1.7580993408473766


def alpha_dropout(
    x: Any,
    keep_prob: Any,
    noise_shape: Any = None,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Sets elements to where selu saturates, then restores mean and deviation."""
    with tf.name_scope(name, "alpha_dropout", [x]):
        x = tf.convert_to_tensor(x, name="x")
        if isinstance(keep_prob, (int, float)) and not 0 < keep_prob <= 1.0:
            raise ValueError(
                "keep_prob must be a scalar tensor or a float in the range (0, 1], "
                f"got {float(keep_prob):g}"
            )
        keep = tf.convert_to_tensor(keep_prob, dtype=x.dtype, name="keep_prob")
        keep.get_shape().assert_has_rank(0)
        if tf.get_static_value(keep) == 1:
            return x
        shape = tf.shape(x) if noise_shape is None else noise_shape
        drawn = tf.random_uniform(shape, seed=seed, dtype=x.dtype)
        kept = tf.cast(tf.greater_equal(drawn, 1 - keep), x.dtype)
        masked = x * kept + _ALPHA * (1 - kept)
        scale = (keep + keep * (1 - keep) * _ALPHA**2) ** -0.5
        return scale * masked + -scale * _ALPHA * (1 - keep)


def deprecated_flipped_softmax_cross_entropy_with_logits(
    logits: Any, labels: Any, dim: int = -1, name: str | None = None
) -> Any:
    """The loss of today, whose arguments stood the other way round once."""
    return tf.nn.softmax_cross_entropy_with_logits(
        labels=labels, logits=logits, dim=dim, name=name
    )


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(
    logits: Any, labels: Any, name: str | None = None
) -> Any:
    """The loss of today, whose arguments stood the other way round once."""
    return tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=logits, name=name
    )


def deprecated_flipped_sigmoid_cross_entropy_with_logits(
    logits: Any, targets: Any, name: str | None = None
) -> Any:
    """The loss of today, whose arguments stood the other way round once."""
    return tf.nn.sigmoid_cross_entropy_with_logits(
        labels=targets, logits=logits, name=name
    )
