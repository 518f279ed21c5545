"""Baselines of TF 1: models that see no feature, only the labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ..estimator import Estimator
from ..heads import legacy as heads
from ..heads.checks import weight_key
from . import columns as fc
from .optimizers import legacy_optimizer

__all__ = [
    "LEARNING_RATE",
    "BaselineClassifier",
    "BaselineEstimator",
    "BaselineRegressor",
    "baseline_logits",
]

LEARNING_RATE = 0.3
SUM: str = tf.losses.Reduction.SUM


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
        bias = (bias_of or _bias)(units)
        return bias, tf.multiply(bias, tf.ones([sizes[0], units]))


def _bias(units: int) -> Any:
    return tf.get_variable("bias", shape=[units], initializer=tf.zeros_initializer())


def _model_fn(
    head: Any, optimizer: Any, weight_column: Any = None
) -> Callable[..., Any]:
    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        del config
        _, logits = baseline_logits(
            features, units=head.logits_dimension, weight_column=weight_column
        )

        def train_op_fn(loss: Any) -> Any:
            made = legacy_optimizer(optimizer, learning_rate=LEARNING_RATE)
            return made.minimize(loss, global_step=tf.train.get_global_step())

        return head.create_estimator_spec(
            features=features,
            mode=mode,
            logits=logits,
            labels=labels,
            train_op_fn=train_op_fn,
        )

    return model_fn


class BaselineClassifier(Estimator):
    """Predicts the class frequencies (TF 1)."""

    def __init__(
        self,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: str = SUM,
    ) -> None:
        head = heads.binary_or_multi_class_head(
            n_classes,
            weight_column=weight_column,
            label_vocabulary=label_vocabulary,
            loss_reduction=loss_reduction,
        )
        super().__init__(
            model_fn=_model_fn(head, optimizer, weight_column),
            model_dir=model_dir,
            config=config,
        )


class BaselineRegressor(Estimator):
    """Predicts the mean label (TF 1)."""

    def __init__(
        self,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: str = SUM,
    ) -> None:
        head = heads.regression_head(
            label_dimension=label_dimension,
            weight_column=weight_column,
            loss_reduction=loss_reduction,
        )
        super().__init__(
            model_fn=_model_fn(head, optimizer), model_dir=model_dir, config=config
        )


class BaselineEstimator(Estimator):
    """A bias under any TF 1 head."""

    def __init__(
        self,
        head: Any,
        model_dir: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
    ) -> None:
        super().__init__(
            model_fn=_model_fn(head, optimizer), model_dir=model_dir, config=config
        )
