"""``tf.contrib.estimator.multi_head``: several TF 1 heads on one model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ..mode_keys import ModeKeys
from ..spec import EstimatorSpec
from .keys import MetricKeys, scoped
from .legacy import LossSpec, training_op
from .merging import check_heads, merged_exports, split_logits, weighted_sum

__all__ = ["LegacyMultiHead", "multi_head"]


def multi_head(
    heads: Sequence[Any], head_weights: Sequence[float] | None = None
) -> LegacyMultiHead:
    """One model, several objectives: the training loss is their weighted sum."""
    check_heads(heads, head_weights)
    return LegacyMultiHead(heads, head_weights)


class LegacyMultiHead:
    """Delegates to its heads and merges what they return."""

    def __init__(
        self, heads: Sequence[Any], head_weights: Sequence[float] | None
    ) -> None:
        self._heads = tuple(heads)
        self._head_weights = tuple(head_weights or ())

    @property
    def name(self) -> str:
        """Names of the heads, joined."""
        return "_".join(head.name for head in self._heads)

    @property
    def logits_dimension(self) -> int:
        """Logits of all heads side by side."""
        return sum(head.logits_dimension for head in self._heads)

    def create_loss(
        self, features: Any, mode: Any, logits: Any, labels: Mapping[str, Any]
    ) -> LossSpec:
        """The merged loss; the other fields are dicts by head name."""
        by_head = split_logits(logits, self._heads)
        specs = {
            head.name: head.create_loss(
                features, mode, by_head[head.name], labels[head.name]
            )
            for head in self._heads
        }
        weight = dict(
            zip(specs, self._head_weights or (1.0,) * len(specs), strict=True)
        )
        return LossSpec(
            training_loss=weighted_sum(
                [spec.training_loss for spec in specs.values()], self._head_weights
            ),
            unreduced_loss={n: s.unreduced_loss * weight[n] for n, s in specs.items()},
            weights={n: s.weights * weight[n] for n, s in specs.items()},
            processed_labels={n: s.processed_labels for n, s in specs.items()},
        )

    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Mapping[str, Any] | None = None,
        optimizer: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
    ) -> EstimatorSpec:
        """The ``EstimatorSpec`` of all heads together."""
        by_head = split_logits(logits, self._heads)
        if labels is not None and not isinstance(labels, dict):
            raise ValueError(f"labels must be a dict. Given: {labels}")
        specs = {
            head.name: head.create_estimator_spec(
                features=features,
                mode=mode,
                logits=by_head[head.name],
                labels=labels[head.name] if labels else None,
                train_op_fn=lambda loss: tf.no_op(),
            )
            for head in self._heads
        }
        predictions = {
            (name, key): value
            for name, spec in specs.items()
            for key, value in spec.predictions.items()
        }
        if mode == ModeKeys.PREDICT:
            return EstimatorSpec(
                mode=mode,
                predictions=predictions,
                export_outputs=merged_exports(
                    {name: spec.export_outputs for name, spec in specs.items()}
                ),
            )
        losses = [spec.loss for spec in specs.values()]
        metrics: dict[str, Any] = {}
        if mode == ModeKeys.EVAL:
            with tf.name_scope("merge_eval"):
                for name, spec in specs.items():
                    key = scoped(MetricKeys.LOSS, name)
                    metrics[key] = tf.metrics.mean(spec.loss, name=key)
                    metrics.update(spec.eval_metric_ops)
                loss = weighted_sum(losses, self._head_weights)
            return EstimatorSpec(
                mode=mode, predictions=predictions, loss=loss, eval_metric_ops=metrics
            )
        if mode != ModeKeys.TRAIN:
            raise ValueError(f"mode={mode} unrecognized")
        loss = weighted_sum(losses, self._head_weights)
        train_op = training_op(loss, optimizer=optimizer, train_op_fn=train_op_fn)
        with tf.name_scope(""):
            tf.summary.scalar(MetricKeys.LOSS, loss)
        return EstimatorSpec(
            mode=mode, predictions=predictions, loss=loss, train_op=train_op
        )
