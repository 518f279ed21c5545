"""The head of sequences that are labelled step by step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from ..mode_keys import ModeKeys
from ..spec import EstimatorSpec
from .base import Head
from .checks import is_numeric_column

__all__ = ["SequentialHeadWrapper"]


class SequentialHeadWrapper(Head):
    """Lets a head of single examples judge every real step of every sequence.

    Logits, labels and the features named by `feature_columns` are [batch, time,
    ...]; steps that `sequence_length_mask` (a feature) marks as padding are left out
    before the wrapped head sees them. Labels may be sparse: their values are taken.
    """

    def __init__(
        self,
        static_head: Any,
        sequence_length_mask: Any = "sequence_mask",
        feature_columns: Any = None,
    ) -> None:
        if isinstance(sequence_length_mask, str):
            key = sequence_length_mask
        elif is_numeric_column(sequence_length_mask):
            key = str(sequence_length_mask.key)
        else:
            raise TypeError(
                "`sequence_mask` column must be a string. Given type: "
                f"{type(sequence_length_mask)}."
            )
        listed = feature_columns or []
        if not isinstance(listed, (list, tuple)):
            listed = [listed]
        for column in listed:
            if not isinstance(column, str) and not is_numeric_column(column):
                raise TypeError(
                    "`feature_columns` must either be a string or an iterable of "
                    f"strings got {type(column)} instead."
                )
        self._static_head = static_head
        self._mask_key = key
        self._keys = [c if isinstance(c, str) else str(c.key) for c in listed]

    @property
    def name(self) -> str:
        """Name of the wrapped head, with a suffix."""
        if self._static_head.name:
            return f"{self._static_head.name}_sequential"
        return "sequential_head"

    @property
    def logits_dimension(self) -> int:
        """That of the wrapped head."""
        return int(self._static_head.logits_dimension)

    @property
    def loss_reduction(self) -> Any:
        """That of the wrapped head."""
        return self._static_head.loss_reduction

    @property
    def input_sequence_mask_key(self) -> str:
        """The feature that says which steps are real."""
        return self._mask_key

    @property
    def static_head(self) -> Any:
        """The wrapped head."""
        return self._static_head

    def _flat(
        self, labels: Any, logits: Any, features: dict[str, Any]
    ) -> tuple[Any, Any, dict[str, Any]]:
        """What the wrapped head takes: one row for each real step."""
        if self._mask_key not in features:
            raise ValueError(
                f"{self._mask_key} must be in the features dictionary: it is the mask "
                "of the sequences."
            )
        mask = tf.cast(features[self._mask_key], tf.bool)
        if mask.shape.ndims is not None and mask.shape.ndims != 2:
            raise ValueError(
                "`sequence_mask` should be a 2D tensor of shape [batch_size, padded "
                f"sequence length]. Given: {mask.shape}."
            )
        flat = {key: _masked(features[key], mask) for key in self._keys}
        rows = None if labels is None else _masked(labels, mask)
        return rows, tf.boolean_mask(logits, mask), {**features, **flat}

    def loss(
        self,
        labels: Any,
        logits: Any,
        features: Any = None,
        mode: Any = None,
        regularization_losses: Any = None,
    ) -> Any:
        """The wrapped head's loss of all real steps."""
        rows, flat, columns = self._flat(labels, logits, features)
        return self._static_head.loss(
            labels=rows,
            logits=flat,
            features=columns,
            mode=mode,
            regularization_losses=regularization_losses,
        )

    def predictions(self, logits: Any, keys: Any = None) -> Any:
        """The wrapped head's predictions of every step, padding too."""
        return self._static_head.predictions(logits, keys)

    def metrics(self, regularization_losses: Any = None) -> Any:
        """The wrapped head's metrics."""
        return self._static_head.metrics(regularization_losses)

    def update_metrics(
        self,
        eval_metrics: Any,
        features: Any,
        logits: Any,
        labels: Any,
        mode: Any = None,
        regularization_losses: Any = None,
    ) -> Any:
        """Adds the real steps of one batch."""
        rows, flat, columns = self._flat(labels, logits, features)
        return self._static_head.update_metrics(
            eval_metrics,
            columns,
            flat,
            rows,
            mode=mode,
            regularization_losses=regularization_losses,
        )

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
        """The wrapped head's ``EstimatorSpec`` over all real steps."""
        if mode == ModeKeys.PREDICT:
            spec: EstimatorSpec = self._static_head.create_estimator_spec(
                features=features, mode=mode, logits=logits
            )
            spec.predictions[self._mask_key] = features[self._mask_key]
            return spec._replace(predictions=spec.predictions)
        rows, flat, columns = self._flat(labels, logits, features)
        made: EstimatorSpec = self._static_head.create_estimator_spec(
            features=columns,
            mode=mode,
            logits=flat,
            labels=rows,
            optimizer=optimizer,
            trainable_variables=trainable_variables,
            train_op_fn=train_op_fn,
            update_ops=update_ops,
            regularization_losses=regularization_losses,
        )
        return made


def _masked(value: Any, mask: Any) -> Any:
    if isinstance(value, (tf.SparseTensor, tf.SparseTensorValue)):
        return tf.convert_to_tensor(value.values)
    return tf.boolean_mask(value, mask)
