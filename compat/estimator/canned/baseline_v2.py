"""Baselines of TF 2: ``tf.estimator.Baseline*`` with Keras optimizers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf2

from ..estimator import EstimatorV2
from ..heads import modern as heads
from ..heads.base import MEAN_OVER_BATCH
from ..mode_keys import ModeKeys
from .baseline import LEARNING_RATE, baseline_logits
from .modern_training import counting_optimizer, train_op_of
from .optimizers import read_early

__all__ = ["BaselineClassifier", "BaselineEstimator", "BaselineRegressor"]


def _bias(units: int) -> Any:
    # As in TF 2.15: of a tf.Variable, checkpoints hold the copies of all replicas.
    return tf2.Variable(tf2.zeros([units]), name="bias")


def _model_fn(
    head: Any, optimizer: Any, weight_column: Any = None
) -> Callable[..., Any]:
    optimizer = read_early(optimizer)

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        del config
        bias, logits = baseline_logits(
            features,
            units=head.logits_dimension,
            weight_column=weight_column,
            bias_of=_bias,
        )
        train_op_fn = None
        if mode == ModeKeys.TRAIN:
            made = counting_optimizer(optimizer, learning_rate=LEARNING_RATE)
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


class BaselineClassifier(EstimatorV2):
    """Predicts the class frequencies (TF 2)."""

    def __init__(
        self,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: Any = MEAN_OVER_BATCH,
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


class BaselineRegressor(EstimatorV2):
    """Predicts the mean label (TF 2)."""

    def __init__(
        self,
        model_dir: Any = None,
        label_dimension: int = 1,
        weight_column: Any = None,
        optimizer: Any = "Ftrl",
        config: Any = None,
        loss_reduction: Any = MEAN_OVER_BATCH,
    ) -> None:
        head = heads.RegressionHead(
            label_dimension=label_dimension,
            weight_column=weight_column,
            loss_reduction=loss_reduction,
        )
        super().__init__(
            model_fn=_model_fn(head, optimizer), model_dir=model_dir, config=config
        )


class BaselineEstimator(EstimatorV2):
    """A bias under any TF 2 head."""

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
