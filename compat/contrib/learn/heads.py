"""Heads of ``tf.contrib.learn``: losses, metrics and predictions of its models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ..layers import fully_connected
from ..lookup import index_table_from_tensor
from .keys import MetricKey, PredictionKey, ProblemType
from .model_fns import ModeKeys, ModelFnOps

__all__ = ["Head", "multi_class_head", "no_op_train_fn", "regression_head"]


class Head:
    """Loss, metrics and predictions over the logits of a model."""

    default_name = "head"
    problem_type = ProblemType.UNSPECIFIED

    def __init__(
        self,
        *,
        dimension: int,
        label_name: str | None,
        weight_column_name: str | None,
        enable_centered_bias: bool,
        head_name: str | None,
    ) -> None:
        self.logits_dimension = dimension
        self._label_name = label_name
        self._weight_column_name = weight_column_name
        self._centered = enable_centered_bias
        self.head_name = head_name or self.default_name
        self._given_name = head_name

    def create_model_fn_ops(
        self,
        features: Any,
        mode: str,
        labels: Any = None,
        train_op_fn: Callable[[Any], Any] | None = None,
        logits: Any = None,
        logits_input: Any = None,
        scope: Any = None,
    ) -> ModelFnOps:
        """What the model function gives back for these logits."""
        with tf.variable_scope(
            scope, default_name=self.head_name, values=[logits, logits_input]
        ):
            if logits is None:
                if logits_input is None:
                    raise ValueError("Either logits or logits_input must be given.")
                logits = fully_connected(
                    logits_input,
                    self.logits_dimension,
                    activation_fn=None,
                    scope="logits",
                )
            bias = self._centered_bias() if self._centered else None
            if bias is not None:
                logits = tf.nn.bias_add(logits, bias)
            predictions = self._predictions(logits)
            loss = train_op = None
            metrics: dict[str, Any] = {}
            if mode != ModeKeys.INFER:
                wanted = self._labels(labels)
                weights = self._weights(features)
                losses = tf.reshape(self._losses(wanted, logits), [-1])
                trained, measured = _averages(losses, weights)
                if mode == ModeKeys.TRAIN:
                    loss = trained
                    train_op = self._train_op(
                        loss, train_op_fn, bias, wanted, weights, tf.shape(logits)
                    )
                else:
                    loss = measured
                    metrics = self._metrics(wanted, predictions, weights)
            return ModelFnOps(
                mode=mode,
                predictions=predictions,
                loss=loss,
                train_op=train_op,
                eval_metric_ops=metrics,
                output_alternatives=self._alternatives(predictions, mode),
            )

    def _alternatives(self, predictions: Any, mode: str) -> dict[Any, Any]:
        """What the head can be served with, and the kind of problem it is for."""
        if mode == ModeKeys.INFER:
            predictions = self._served(predictions)
        return {self._given_name: (self.problem_type, predictions)}

    def _served(self, predictions: Any) -> Any:
        """What of the predictions is served."""
        return predictions

    def _centered_bias(self) -> Any:
        return tf.get_variable(
            "centered_bias_weight",
            shape=[self.logits_dimension],
            initializer=tf.zeros_initializer(),
        )

    def _train_op(
        self,
        loss: Any,
        train_op_fn: Callable[[Any], Any] | None,
        bias: Any,
        labels: Any,
        weights: Any,
        shape: Any,
    ) -> Any:
        if train_op_fn is None:
            raise ValueError("train_op_fn can not be None in training.")
        with tf.name_scope(None, "train_op", (loss,)):
            train_op = train_op_fn(loss)
        if bias is None:
            return train_op
        # A step of its own, over what the bias alone would predict.
        alone = tf.reshape(tf.tile(bias, [shape[0]]), shape)
        own_loss, _ = _averages(tf.reshape(self._losses(labels, alone), [-1]), weights)
        step = tf.train.AdagradOptimizer(0.1).minimize(own_loss, var_list=[bias])
        return tf.group(train_op, step)

    def _labels(self, labels: Any) -> Any:
        if isinstance(labels, Mapping):
            if self._label_name is None:
                raise ValueError("labels is a dict: the head needs a label_name.")
            labels = labels[self._label_name]
        if labels is None:
            raise ValueError("Labels are None, so there is no loss.")
        if isinstance(labels, tf.SparseTensor):
            raise ValueError("SparseTensor is not supported as labels.")
        return labels

    def _weights(self, features: Any) -> Any:
        if self._weight_column_name is None:
            return None
        column = features[self._weight_column_name]
        return tf.reshape(tf.cast(column, tf.float32), [-1])

    def _predictions(self, logits: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _losses(self, labels: Any, logits: Any) -> Any:
        raise NotImplementedError

    def _metrics(
        self, labels: Any, predictions: Mapping[str, Any], weights: Any
    ) -> dict[str, Any]:
        del labels, predictions, weights
        return {}


def _averages(losses: Any, weights: Any) -> tuple[Any, Any]:
    """The loss that is trained, and the one that is reported by evaluations."""
    if weights is None:
        mean = tf.reduce_mean(losses)
        return mean, mean
    weighted = losses * weights
    normalized = tf.reduce_sum(weighted) / tf.reduce_sum(weights)
    return tf.reduce_mean(weighted), normalized


class _RegressionHead(Head):
    default_name = "regression_head"
    problem_type = ProblemType.LINEAR_REGRESSION

    def __init__(self, *, link_fn: Callable[[Any], Any] | None, **options: Any) -> None:
        super().__init__(**options)
        self._link = link_fn or tf.identity

    def _losses(self, labels: Any, logits: Any) -> Any:
        return tf.square(
            logits - tf.cast(tf.reshape(labels, tf.shape(logits)), logits.dtype)
        )

    def _predictions(self, logits: Any) -> dict[str, Any]:
        scores = self._link(logits)
        if self.logits_dimension == 1:
            scores = tf.squeeze(scores, [1])
        return {PredictionKey.SCORES: scores}


class _ClassHead(Head):
    def __init__(
        self, *, label_keys: Sequence[str] | None, loss_fn: Any, **options: Any
    ) -> None:
        super().__init__(**options)
        self._keys = list(label_keys) if label_keys is not None else None
        self._loss_fn = loss_fn

    def _labels(self, labels: Any) -> Any:
        labels = super()._labels(labels)
        if self._keys is not None:
            labels = index_table_from_tensor(self._keys).lookup(labels)
        return labels

    def _served(self, predictions: Any) -> Any:
        # Every class of every example, beside its probability.
        probabilities = predictions[PredictionKey.PROBABILITIES]
        size, count = tf.unstack(tf.shape(probabilities))
        names = tf.as_string(tf.range(count))
        if self._keys is not None:
            names = tf.constant(self._keys)
        return {
            PredictionKey.PROBABILITIES: probabilities,
            PredictionKey.CLASSES: tf.tile(names[None], [size, 1]),
        }

    def _classes(self, numbers: Any) -> Any:
        if self._keys is None:
            return numbers
        return tf.gather(tf.constant(self._keys), numbers)


class _BinaryHead(_ClassHead):
    default_name = "binary_logistic_head"
    problem_type = ProblemType.LOGISTIC_REGRESSION

    def __init__(self, *, thresholds: Sequence[float] | None, **options: Any) -> None:
        super().__init__(**options)
        self._thresholds = list(thresholds) if thresholds else [0.5]

    def _losses(self, labels: Any, logits: Any) -> Any:
        labels = tf.reshape(labels, tf.shape(logits))
        if self._loss_fn is not None:
            return self._loss_fn(labels, logits)
        return tf.nn.sigmoid_cross_entropy_with_logits(
            labels=tf.cast(labels, tf.float32), logits=logits
        )

    def _predictions(self, logits: Any) -> dict[str, Any]:
        both = tf.concat([tf.zeros_like(logits), logits], 1)
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.LOGISTIC: tf.sigmoid(logits),
            PredictionKey.PROBABILITIES: tf.nn.softmax(both),
            PredictionKey.CLASSES: self._classes(tf.argmax(both, 1)),
        }

    def _metrics(
        self, labels: Any, predictions: Mapping[str, Any], weights: Any
    ) -> dict[str, Any]:
        truth = tf.reshape(tf.cast(labels, tf.float32), [-1])
        logistic = tf.reshape(predictions[PredictionKey.LOGISTIC], [-1])
        chosen = tf.cast(logistic > 0.5, tf.float32)
        mean = tf.metrics.mean(truth, weights)
        found = {
            MetricKey.ACCURACY: tf.metrics.accuracy(truth, chosen, weights),
            MetricKey.PREDICTION_MEAN: tf.metrics.mean(logistic, weights),
            MetricKey.LABEL_MEAN: mean,
            MetricKey.ACCURACY_BASELINE: tf.metrics.mean(truth, weights),
            MetricKey.AUC: tf.metrics.auc(truth, logistic, weights),
            MetricKey.AUC_PR: tf.metrics.auc(truth, logistic, weights, curve="PR"),
        }
        for threshold in self._thresholds:
            above = tf.cast(logistic >= threshold, tf.float32)
            found[MetricKey.ACCURACY_MEAN % threshold] = tf.metrics.accuracy(
                truth, above, weights
            )
            found[MetricKey.PRECISION_MEAN % threshold] = _first(
                tf.metrics.precision_at_thresholds(
                    truth, logistic, [threshold], weights
                )
            )
            found[MetricKey.RECALL_MEAN % threshold] = _first(
                tf.metrics.recall_at_thresholds(truth, logistic, [threshold], weights)
            )
        return found


def _first(metric: tuple[Any, Any]) -> tuple[Any, Any]:
    value, update = metric
    return tf.squeeze(value), tf.squeeze(update)


class _MultiClassHead(_ClassHead):
    default_name = "multi_class_head"
    problem_type = ProblemType.CLASSIFICATION

    def _losses(self, labels: Any, logits: Any) -> Any:
        labels = tf.reshape(labels, [-1])
        if self._loss_fn is not None:
            return self._loss_fn(labels, logits)
        return tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits
        )

    def _predictions(self, logits: Any) -> dict[str, Any]:
        return {
            PredictionKey.LOGITS: logits,
            PredictionKey.PROBABILITIES: tf.nn.softmax(logits),
            PredictionKey.CLASSES: self._classes(tf.argmax(logits, 1)),
        }

    def _metrics(
        self, labels: Any, predictions: Mapping[str, Any], weights: Any
    ) -> dict[str, Any]:
        chosen = tf.argmax(predictions[PredictionKey.LOGITS], 1)
        return {
            MetricKey.ACCURACY: tf.metrics.accuracy(
                tf.reshape(labels, [-1]), chosen, weights
            )
        }


def regression_head(
    label_name: str | None = None,
    weight_column_name: str | None = None,
    label_dimension: int = 1,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    link_fn: Callable[[Any], Any] | None = None,
) -> Head:
    """A head that predicts numbers, with a squared loss."""
    return _RegressionHead(
        link_fn=link_fn,
        dimension=label_dimension,
        label_name=label_name,
        weight_column_name=weight_column_name,
        enable_centered_bias=enable_centered_bias,
        head_name=head_name,
    )


def multi_class_head(
    n_classes: int,
    label_name: str | None = None,
    weight_column_name: str | None = None,
    enable_centered_bias: bool = False,
    head_name: str | None = None,
    thresholds: Sequence[float] | None = None,
    metric_class_ids: Sequence[int] | None = None,
    loss_fn: Any = None,
    label_keys: Sequence[str] | None = None,
) -> Head:
    """A head that predicts one of some classes."""
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    if n_classes == 2 and label_keys is not None:
        raise ValueError("label_keys is not supported for n_classes=2.")
    if metric_class_ids:
        raise ValueError("metric_class_ids is not supported; use metrics of your own.")
    options: dict[str, Any] = {
        "label_keys": label_keys,
        "loss_fn": loss_fn,
        "label_name": label_name,
        "weight_column_name": weight_column_name,
        "enable_centered_bias": enable_centered_bias,
        "head_name": head_name,
    }
    if n_classes == 2:
        return _BinaryHead(thresholds=thresholds, dimension=1, **options)
    return _MultiClassHead(dimension=n_classes, **options)


def no_op_train_fn(loss: Any) -> Any:
    """A train op that trains nothing."""
    del loss
    return tf.no_op()
