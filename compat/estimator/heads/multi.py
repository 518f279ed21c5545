"""``tf.estimator.MultiHead``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf
import tf_keras

from ..mode_keys import ModeKeys
from ..spec import EstimatorSpec
from .base import Head, summarise, training_op
from .keys import MetricKeys, scoped
from .merging import check_heads, merged_exports, split_logits, weighted_sum

__all__ = ["MultiHead"]


class MultiHead(Head):
    """Several heads on one model; the training loss is their weighted sum."""

    def __init__(
        self, heads: Sequence[Head], head_weights: Sequence[float] | None = None
    ) -> None:
        check_heads(heads, head_weights)
        self._heads = tuple(heads)
        self._head_weights = tuple(head_weights or ())

    @property
    def name(self) -> str:
        """Names of the heads, joined."""
        return "_".join(str(head.name) for head in self._heads)

    @property
    def logits_dimension(self) -> int:
        """Logits of all heads side by side."""
        return sum(head.logits_dimension for head in self._heads)

    @property
    def loss_reduction(self) -> Any:
        """The reduction that all heads share."""
        found = [head.loss_reduction for head in self._heads]
        if len(set(found)) > 1:
            raise ValueError(
                "The loss_reduction must be the same for different heads. "
                f"Given: {found}"
            )
        return found[0]

    def _split(self, logits: Any, labels: Any = None) -> dict[str, Any]:
        if labels is not None:
            if not isinstance(labels, Mapping):
                raise ValueError(f"labels must be a dict. Given: {labels}")
            missing = [h.name for h in self._heads if h.name not in labels]
            if missing:
                raise ValueError(f"labels has missing values for head(s): {missing}")
        return split_logits(logits, self._heads)

    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Any = None,
        mode: Any = None,
        regularization_losses: Any = None,
    ) -> Any:
        """The weighted sum of the losses of the heads."""
        by_head = self._split(logits, labels)
        loss = weighted_sum(
            [
                head.loss(labels[head.name], by_head[str(head.name)], features, mode)
                for head in self._heads
            ],
            self._head_weights,
        )
        if regularization_losses is not None:
            loss = loss + tf.add_n(regularization_losses)
        return loss

    def predictions(self, logits: Any, keys: Any = None) -> dict[tuple[str, str], Any]:
        """Predictions by (head name, key)."""
        by_head = self._split(logits)
        return {
            (str(head.name), key): value
            for head in self._heads
            for key, value in head.predictions(by_head[str(head.name)]).items()
            if keys is None or key in keys
        }

    def metrics(self, regularization_losses: Any = None) -> dict[str, Any]:
        """The loss of every head; ``update_metrics`` adds their own metrics."""
        keys = [scoped(MetricKeys.LOSS, head.name) for head in self._heads]
        if regularization_losses is not None:
            keys.append(self._summary_key(MetricKeys.LOSS_REGULARIZATION))
        return {key: tf_keras.metrics.Mean(name=key) for key in keys}

    def update_metrics(
        self,
        eval_metrics: dict[str, Any],
        features: Any,
        logits: Any,
        labels: Any,
        mode: Any = None,
        regularization_losses: Any = None,
    ) -> dict[str, Any]:
        """Adds one batch to the metrics of all heads and returns them."""
        del mode
        by_head = self._split(logits, labels)
        if regularization_losses is not None:
            key = self._summary_key(MetricKeys.LOSS_REGULARIZATION)
            eval_metrics[key].update_state(tf.add_n(regularization_losses))
        for head in self._heads:
            own_logits, own_labels = by_head[str(head.name)], labels[head.name]
            loss = head.loss(own_labels, own_logits, features)
            eval_metrics[scoped(MetricKeys.LOSS, head.name)].update_state(loss)
            # Eager programs call this once per batch with the dict of the last
            # call: metrics that are already there go on counting.
            own = head.metrics()
            own = {key: eval_metrics.get(key, metric) for key, metric in own.items()}
            updated = head.update_metrics(own, features, own_logits, own_labels)
            eval_metrics.update(updated or {})
        return eval_metrics

    def create_estimator_spec(
        self,
        features: Any,
        mode: str,
        logits: Any,
        labels: Any = None,
        optimizer: Any = None,
        trainable_variables: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        update_ops: Any = None,
        regularization_losses: Any = None,
    ) -> EstimatorSpec:
        """The ``EstimatorSpec`` of all heads together."""
        with tf.name_scope(self.name, "multi_head"):
            by_head = self._split(logits, labels)
            predictions = self.predictions(by_head)
            if mode == ModeKeys.PREDICT:
                exports = {
                    str(head.name): head.create_estimator_spec(
                        features=features, mode=mode, logits=by_head[str(head.name)]
                    ).export_outputs
                    for head in self._heads
                }
                return EstimatorSpec(
                    mode=mode,
                    predictions=predictions,
                    export_outputs=merged_exports(exports),
                )
            loss = self.loss(labels, by_head, features, mode, regularization_losses)
            if mode == ModeKeys.EVAL:
                metrics = self.update_metrics(
                    self.metrics(regularization_losses),
                    features,
                    by_head,
                    labels,
                    regularization_losses=regularization_losses,
                )
                return EstimatorSpec(
                    mode=mode,
                    predictions=predictions,
                    loss=loss,
                    eval_metric_ops=metrics,
                )
            if mode != ModeKeys.TRAIN:
                raise ValueError(f"mode={mode} unrecognized")
            for head in self._heads:
                # For their summaries; none of them trains alone. (The scopes that
                # this opens number those of the optimizer: training_2/SGD.)
                head.create_estimator_spec(
                    features=features,
                    mode=mode,
                    logits=by_head[str(head.name)],
                    labels=labels[head.name],
                    train_op_fn=lambda loss: tf.no_op(),
                )
            train_op = training_op(
                loss,
                optimizer=optimizer,
                trainable_variables=trainable_variables,
                train_op_fn=train_op_fn,
                update_ops=update_ops,
                loss_reduction=self.loss_reduction,
            )
            summarise(loss, regularization_losses, lambda key: key)
        return EstimatorSpec(
            mode=mode, predictions=predictions, loss=loss, train_op=train_op
        )
