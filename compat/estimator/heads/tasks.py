"""What a head computes, whatever its generation.

A task turns labels into targets, logits into per-example losses, predictions
and export outputs. Reduction of the loss, metrics and the training op differ
between TF 1 and TF 2 heads and live with them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ..export import ClassificationOutput, PredictOutput, RegressionOutput
from . import checks
from .keys import (
    CLASSIFY_SERVING_KEY,
    DEFAULT_SERVING_KEY,
    PREDICT_SERVING_KEY,
    REGRESS_SERVING_KEY,
    PredictionKeys,
)

__all__ = ["BinaryTask", "MultiClassTask", "MultiLabelTask", "RegressionTask", "Task"]


class Task:
    """The mathematics of one head."""

    #: Values per example that the model has to deliver.
    logits_dimension: int
    #: Whether weights may differ between the logits of one example.
    weight_per_logit = False
    prediction_keys: tuple[str, ...] = ()

    def __init__(self, loss_fn: Callable[..., Any] | None = None) -> None:
        self.loss_fn = loss_fn

    def targets(self, labels: Any, logits: Any) -> Any:
        """Labels as the loss and the metrics take them."""
        raise NotImplementedError

    def default_loss(self, targets: Any, logits: Any) -> Any:
        """Loss per example, before weights."""
        raise NotImplementedError

    @property
    def loss_dimension(self) -> int:
        """Loss values per example."""
        return 1

    def unreduced_loss(self, targets: Any, logits: Any, features: Any) -> Any:
        """Loss per example, the user's where there is one."""
        if self.loss_fn is None:
            return self.default_loss(targets, logits)
        return checks.loss_of(
            self.loss_fn,
            labels=targets,
            logits=logits,
            features=features,
            dimension=self.loss_dimension,
        )

    def predictions(
        self, logits: Any, keys: Sequence[str] | None = None
    ) -> dict[str, Any]:
        """Predictions by key; all of them when `keys` is not given."""
        for key in keys or ():
            if key not in self.prediction_keys:
                raise ValueError(
                    f"Prediction key must be in PredictionKeys, given: {key}."
                    f"Valid prediction keys include {list(self.prediction_keys)}."
                )
        wanted = keys or self.prediction_keys
        with tf.name_scope(None, "predictions", (logits,)):
            found = self._predictions(logits, frozenset(wanted))
        return {key: found[key] for key in self.prediction_keys if key in found}

    def _predictions(self, logits: Any, wanted: frozenset[str]) -> dict[str, Any]:
        raise NotImplementedError

    def export_outputs(self, predictions: Mapping[str, Any]) -> dict[str, Any]:
        """Signatures of an exported model."""
        raise NotImplementedError


class _Classes(Task):
    """What all classifiers share: a vocabulary and lists of classes."""

    def __init__(
        self,
        n_classes: int,
        *,
        vocabulary: Sequence[str] | None,
        loss_fn: Callable[..., Any] | None,
    ) -> None:
        super().__init__(loss_fn)
        self.n_classes = n_classes
        self.vocabulary = vocabulary

    def ids_of(self, names: Any) -> Any:
        """Class ids of label strings; unknown ones become -1."""
        assert self.vocabulary is not None
        return _table(self.vocabulary).lookup(names)

    def names_of(self, class_ids: Any) -> Any:
        """Class names as strings: vocabulary entries, or the ids in digits."""
        if not self.vocabulary:
            return tf.as_string(class_ids, name="str_classes")
        return tf.gather(
            tf.constant([_text(name) for name in self.vocabulary]),
            class_ids,
            name="class_string_lookup",
        )

    def all_class_ids(self, logits: Any) -> Any:
        """[batch, n_classes] of ids."""
        return tf.tile(tf.range(self.n_classes)[tf.newaxis], [tf.shape(logits)[0], 1])

    def all_classes(self, logits: Any) -> Any:
        """[batch, n_classes] of names."""
        if self.vocabulary:
            row = tf.constant([_text(name) for name in self.vocabulary])
        else:
            row = tf.as_string(tf.range(self.n_classes))
        return tf.tile(row[tf.newaxis], [tf.shape(logits)[0], 1])

    def export_outputs(self, predictions: Mapping[str, Any]) -> dict[str, Any]:
        scores = predictions[PredictionKeys.PROBABILITIES]
        classified = ClassificationOutput(
            scores=scores, classes=self.all_classes(scores)
        )
        return {
            DEFAULT_SERVING_KEY: classified,
            CLASSIFY_SERVING_KEY: classified,
            PREDICT_SERVING_KEY: PredictOutput(dict(predictions)),
        }


class BinaryTask(_Classes):
    """One logit, two classes, sigmoid cross entropy."""

    logits_dimension = 1
    prediction_keys = (
        PredictionKeys.LOGITS,
        PredictionKeys.LOGISTIC,
        PredictionKeys.PROBABILITIES,
        PredictionKeys.CLASS_IDS,
        PredictionKeys.CLASSES,
        PredictionKeys.ALL_CLASS_IDS,
        PredictionKeys.ALL_CLASSES,
    )

    def __init__(
        self,
        *,
        vocabulary: Sequence[str] | None = None,
        loss_fn: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(2, vocabulary=vocabulary, loss_fn=loss_fn)

    def targets(self, labels: Any, logits: Any) -> Any:
        labels = checks.dense_labels(labels, logits, 1)
        if self.vocabulary is not None:
            labels = self.ids_of(labels)
        return checks.labels_in_range(tf.cast(labels, tf.float32), 2)

    def default_loss(self, targets: Any, logits: Any) -> Any:
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits)

    def _predictions(self, logits: Any, wanted: frozenset[str]) -> dict[str, Any]:
        keys = PredictionKeys
        both = tf.concat(
            (tf.zeros_like(logits), logits), axis=-1, name="two_class_logits"
        )
        found = {keys.LOGITS: logits}
        if keys.LOGISTIC in wanted:
            found[keys.LOGISTIC] = tf.sigmoid(logits, name=keys.LOGISTIC)
        if keys.PROBABILITIES in wanted:
            found[keys.PROBABILITIES] = tf.nn.softmax(both, name=keys.PROBABILITIES)
        found.update(_class_predictions(self, both, logits, wanted))
        return {key: value for key, value in found.items() if key in wanted}

    def export_outputs(self, predictions: Mapping[str, Any]) -> dict[str, Any]:
        found = super().export_outputs(predictions)
        found[REGRESS_SERVING_KEY] = RegressionOutput(
            value=predictions[PredictionKeys.LOGISTIC]
        )
        return found


class MultiClassTask(_Classes):
    """One logit per class, one true class, softmax cross entropy."""

    prediction_keys = (
        PredictionKeys.LOGITS,
        PredictionKeys.PROBABILITIES,
        PredictionKeys.CLASS_IDS,
        PredictionKeys.CLASSES,
        PredictionKeys.ALL_CLASS_IDS,
        PredictionKeys.ALL_CLASSES,
    )

    def __init__(
        self,
        n_classes: int,
        *,
        vocabulary: Sequence[str] | None = None,
        loss_fn: Callable[..., Any] | None = None,
    ) -> None:
        if n_classes is None:
            raise ValueError("n_classes cannot be None")
        if not tf.is_tensor(n_classes) and n_classes <= 2:
            raise ValueError(f"n_classes must be > 2: {n_classes}.")
        super().__init__(n_classes, vocabulary=vocabulary, loss_fn=loss_fn)
        self.logits_dimension = n_classes

    def targets(self, labels: Any, logits: Any) -> Any:
        labels = checks.dense_labels(labels, logits, 1)
        if self.vocabulary is None:
            if not labels.dtype.is_integer:
                raise ValueError(
                    f"Labels dtype should be integer. Instead got {labels.dtype}."
                )
        else:
            if labels.dtype != tf.string:
                raise ValueError(
                    "Labels dtype should be string if there is a vocabulary. "
                    f"Instead got {labels.dtype}"
                )
            labels = self.ids_of(labels)
        return checks.labels_in_range(labels, self.n_classes)

    def default_loss(self, targets: Any, logits: Any) -> Any:
        loss = tf.losses.sparse_softmax_cross_entropy(
            labels=targets, logits=logits, reduction=tf.losses.Reduction.NONE
        )
        return tf.expand_dims(loss, axis=-1)

    def _predictions(self, logits: Any, wanted: frozenset[str]) -> dict[str, Any]:
        keys = PredictionKeys
        found = {keys.LOGITS: logits}
        if keys.PROBABILITIES in wanted:
            found[keys.PROBABILITIES] = tf.nn.softmax(logits, name=keys.PROBABILITIES)
        found.update(_class_predictions(self, logits, logits, wanted))
        return {key: value for key, value in found.items() if key in wanted}


class MultiLabelTask(_Classes):
    """One logit per class, any number of true classes, mean sigmoid loss."""

    prediction_keys = (
        PredictionKeys.LOGITS,
        PredictionKeys.PROBABILITIES,
        PredictionKeys.CLASSES,
    )

    def __init__(
        self,
        n_classes: int,
        *,
        vocabulary: Sequence[str] | None = None,
        loss_fn: Callable[..., Any] | None = None,
        classes_for_metrics: Sequence[Any] | None = None,
    ) -> None:
        if n_classes is None or n_classes < 2:
            raise ValueError(
                "n_classes must be > 1 for multi-class classification. "
                f"Given: {n_classes}"
            )
        super().__init__(n_classes, vocabulary=vocabulary, loss_fn=loss_fn)
        self.logits_dimension = n_classes
        self.classes_for_metrics = self._ids_for_metrics(classes_for_metrics)

    def _ids_for_metrics(self, classes: Sequence[Any] | None) -> tuple[int, ...]:
        if not classes:
            return ()
        if isinstance(classes[0], str):
            if not self.vocabulary:
                raise ValueError(
                    "label_vocabulary must be provided when "
                    "classes_for_class_based_metrics are strings."
                )
            names = list(self.vocabulary)
            return tuple(names.index(name) for name in classes)
        for class_id in classes:
            if not 0 <= class_id < self.n_classes:
                raise ValueError(
                    "All classes_for_class_based_metrics must be in range "
                    f"[0, {self.n_classes - 1}]. Given: {class_id}"
                )
        return tuple(classes)

    def targets(self, labels: Any, logits: Any) -> Any:
        if labels is None:
            raise ValueError(checks.NO_LABELS)
        if isinstance(labels, tf.SparseTensor):
            labels = tf.cast(self._indicator(labels), tf.int64)
        else:
            labels = checks.labels_in_range(
                tf.convert_to_tensor(labels),
                2,
                "labels must be an integer indicator Tensor with values in [0, 1]",
            )
        return checks.dense_labels(labels, logits, self.n_classes)

    def _indicator(self, labels: Any) -> Any:
        if labels.dtype == tf.string:
            values = self.ids_of(labels.values)
        else:
            if not labels.dtype.is_integer:
                raise ValueError(
                    f"Labels dtype should be integer. Instead got {labels.dtype}."
                )
            values = checks.labels_in_range(
                labels.values,
                self.n_classes,
                "labels must be an integer SparseTensor with values in "
                f"[0, {self.n_classes})",
            )
        ids = tf.SparseTensor(labels.indices, values, labels.dense_shape)
        return tf.sparse_to_indicator(ids, self.n_classes)

    def default_loss(self, targets: Any, logits: Any) -> Any:
        loss = tf.losses.sigmoid_cross_entropy(
            multi_class_labels=targets,
            logits=logits,
            reduction=tf.losses.Reduction.NONE,
        )
        return tf.reduce_mean(loss, axis=-1, keepdims=True)

    def _predictions(self, logits: Any, wanted: frozenset[str]) -> dict[str, Any]:
        keys = PredictionKeys
        found = {keys.LOGITS: logits}
        if keys.PROBABILITIES in wanted:
            found[keys.PROBABILITIES] = tf.sigmoid(logits, name=keys.PROBABILITIES)
        if keys.CLASSES in wanted:
            found[keys.CLASSES] = self.all_classes(logits)
        return {key: value for key, value in found.items() if key in wanted}


class RegressionTask(Task):
    """Real values, squared error; with a link also Poisson and logistic."""

    weight_per_logit = True

    def __init__(
        self,
        label_dimension: int = 1,
        *,
        loss_fn: Callable[..., Any] | None = None,
        inverse_link_fn: Callable[[Any], Any] | None = None,
    ) -> None:
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        super().__init__(loss_fn)
        self.logits_dimension = label_dimension
        self.inverse_link_fn = inverse_link_fn
        self.prediction_keys = (PredictionKeys.PREDICTIONS,)
        if inverse_link_fn is not None:
            # Without a link the logits are the predictions: one key says it.
            self.prediction_keys += (PredictionKeys.LOGITS,)

    @property
    def loss_dimension(self) -> int:
        return self.logits_dimension

    def targets(self, labels: Any, logits: Any) -> Any:
        labels = checks.dense_labels(labels, logits, self.logits_dimension)
        return tf.cast(labels, tf.float32)

    def default_loss(self, targets: Any, logits: Any) -> Any:
        return tf.losses.mean_squared_error(
            labels=targets, predictions=logits, reduction=tf.losses.Reduction.NONE
        )

    def _predictions(self, logits: Any, wanted: frozenset[str]) -> dict[str, Any]:
        value = logits if self.inverse_link_fn is None else self.inverse_link_fn(logits)
        found = {PredictionKeys.PREDICTIONS: value, PredictionKeys.LOGITS: logits}
        return {key: found[key] for key in self.prediction_keys if key in wanted}

    def export_outputs(self, predictions: Mapping[str, Any]) -> dict[str, Any]:
        value = RegressionOutput(value=predictions[PredictionKeys.PREDICTIONS])
        return {
            DEFAULT_SERVING_KEY: value,
            REGRESS_SERVING_KEY: value,
            PREDICT_SERVING_KEY: PredictOutput(dict(predictions)),
        }


def poisson_loss(compute_full_loss: bool) -> Callable[..., Any]:
    """Negative log likelihood of counts, logits being log rates."""

    def loss_fn(labels: Any, logits: Any) -> Any:
        return tf.nn.log_poisson_loss(
            targets=labels, log_input=logits, compute_full_loss=compute_full_loss
        )

    return loss_fn


def logistic_loss(labels: Any, logits: Any) -> Any:
    """Cross entropy of labels that may be any value between 0 and 1."""
    labels = checks.labels_in_range(labels, 2, "Labels must be in range [0, 1]")
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)


def _class_predictions(
    task: _Classes, class_logits: Any, logits: Any, wanted: frozenset[str]
) -> dict[str, Any]:
    keys = PredictionKeys
    found: dict[str, Any] = {}
    if keys.CLASS_IDS in wanted or keys.CLASSES in wanted:
        best = tf.argmax(class_logits, axis=-1, name=keys.CLASS_IDS)
        found[keys.CLASS_IDS] = tf.expand_dims(best, axis=-1)
        if keys.CLASSES in wanted:
            found[keys.CLASSES] = task.names_of(found[keys.CLASS_IDS])
    if keys.ALL_CLASS_IDS in wanted:
        found[keys.ALL_CLASS_IDS] = task.all_class_ids(logits)
    if keys.ALL_CLASSES in wanted:
        found[keys.ALL_CLASSES] = task.all_classes(logits)
    return found


def _text(name: Any) -> Any:
    return name if isinstance(name, (str, bytes)) else str(name)


def _table(vocabulary: Sequence[str]) -> Any:
    """A lookup table of label strings; in a graph its initialiser is collected."""
    keys = tf.constant([_text(name) for name in vocabulary])
    values = tf.range(len(vocabulary), dtype=tf.int64)
    return tf.lookup.StaticHashTable(
        tf.lookup.KeyValueTensorInitializer(keys, values), default_value=-1
    )
