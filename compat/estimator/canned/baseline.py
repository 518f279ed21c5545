"""Baselines: models that see no feature, only the labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow as tf2
import tensorflow.compat.v1 as tf

from ..heads.checks import weight_key
from ..mode_keys import ModeKeys
from . import columns as fc
from .modern_training import counting_optimizer, train_op_of
from .optimizers import legacy_optimizer, read_early

__all__ = ["legacy_baseline_model_fn", "modern_baseline_model_fn"]

_LEARNING_RATE = 0.3


def baseline_logits(
    features: Any,
    *,
    units: int,
    weight_column: Any = None,
    bias_of: Callable[[int], Any] | None = None,
) -> tuple[Any, Any]:
    """The bias variable, and the bias once per example.

    ``bias_of`` makes the variable; by default it is one of ``tf.get_variable``.
    """
    fc.check_features(features)
    weights = weight_key(weight_column)
    sizes = [tf.shape(value)[0] for key, value in features.items() if key != weights]
    if not sizes:
        raise ValueError(
            "A baseline needs at least one feature besides the weights: its first "
            "dimension tells the batch size."
        )
    same = [tf.assert_equal(sizes[0], size) for size in sizes[1:]]
    with tf.control_dependencies(same), tf.variable_scope("baseline"):
        bias = (bias_of or _legacy_bias)(units)
        return bias, tf.multiply(bias, tf.ones([sizes[0], units]))


def _legacy_bias(units: int) -> Any:
    return tf.get_variable("bias", shape=[units], initializer=tf.zeros_initializer())


def legacy_baseline_model_fn(
    head: Any, optimizer: Any, weight_column: Any = None
) -> Callable[..., Any]:
    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        del config
        _, logits = baseline_logits(
            features, units=head.logits_dimension, weight_column=weight_column
        )

        def train_op_fn(loss: Any) -> Any:
            made = legacy_optimizer(optimizer, learning_rate=_LEARNING_RATE)
            return made.minimize(loss, global_step=tf.train.get_global_step())

        return head.create_estimator_spec(
            features=features,
            mode=mode,
            logits=logits,
            labels=labels,
            train_op_fn=train_op_fn,
        )

    return model_fn


def _modern_bias(units: int) -> Any:
    # As in TF 2.15: of a tf.Variable, checkpoints hold the copies of all replicas.
    return tf2.Variable(tf2.zeros([units]), name="bias")


def modern_baseline_model_fn(
    head: Any, optimizer: Any, weight_column: Any = None
) -> Callable[..., Any]:
    optimizer = read_early(optimizer)

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        del config
        bias, logits = baseline_logits(
            features,
            units=head.logits_dimension,
            weight_column=weight_column,
            bias_of=_modern_bias,
        )
        train_op_fn = None
        if mode == ModeKeys.TRAIN:
            made = counting_optimizer(optimizer, learning_rate=_LEARNING_RATE)
            train_op_fn = train_op_of(
                [(made, [bias], ())], loss_reduction=head.loss_reduction
            )
        return head.create_estimator_spec(
            features=features,
            mode=mode,
            logits=logits,
            labels=labels,
            train_op_fn=train_op_fn,
        )

    return model_fn
