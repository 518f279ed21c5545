"""``DynamicRnnEstimator``, and the helpers around it that programs import."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ...engine.legacy_layers import rnn_cell
from ..layers import (
    fully_connected,
    input_from_feature_columns,
    optimize_loss,
    sequence_input_from_feature_columns,
)
from .keys import MetricKey, PredictionKey, ProblemType
from .model_fns import Estimator, ModeKeys, ModelFnOps

__all__ = [
    "DynamicRnnEstimator",
    "PredictionType",
    "RNNKeys",
    "apply_dropout",
    "build_sequence_input",
    "construct_rnn_cell",
    "mask_activations_and_labels",
    "select_last_activations",
]

_CELLS = {
    "basic_rnn": rnn_cell.BasicRNNCell,
    "gru": rnn_cell.GRUCell,
    "lstm": rnn_cell.LSTMCell,
}


class PredictionType:
    """Whether a sequence has one label or each of its steps has."""

    SINGLE_VALUE = 1
    MULTIPLE_VALUE = 2


class RNNKeys:
    """Keys of features and predictions."""

    FINAL_STATE_KEY = "final_state"
    LABELS_KEY = "__labels__"
    SEQUENCE_LENGTH_KEY = "sequence_length"
    STATE_PREFIX = "rnn_cell_state"


def apply_dropout(
    cells: Sequence[Any],
    dropout_keep_probabilities: Sequence[Any],
    random_seed: int | None = None,
) -> list[Any]:
    """Wraps cells so that values are dropped before each, and after the last."""
    if len(dropout_keep_probabilities) != len(cells) + 1:
        raise ValueError(
            "The number of dropout probabilities must be one greater than the number "
            f"of cells. Got {len(cells)} cells and {len(dropout_keep_probabilities)} "
            "dropout probabilities."
        )
    *before, after = dropout_keep_probabilities
    return [
        rnn_cell.DropoutWrapper(
            cell,
            input_keep_prob=keep,
            output_keep_prob=after if cell is cells[-1] else 1.0,
            seed=random_seed,
        )
        for cell, keep in zip(cells, before, strict=True)
    ]


def construct_rnn_cell(
    num_units: Any,
    cell_type: Any = "basic_rnn",
    dropout_keep_probabilities: Sequence[Any] | None = None,
) -> Any:
    """A cell, or a stack of them for several numbers of units."""
    kind = _CELLS.get(cell_type, cell_type)
    if not issubclass(kind, rnn_cell.RNNCell):
        raise ValueError(f"Given class {kind} is not a subclass of RNNCell.")
    units = num_units if isinstance(num_units, list | tuple) else [num_units]
    cells = [kind(size) for size in units]
    if dropout_keep_probabilities:
        cells = apply_dropout(cells, dropout_keep_probabilities)
    return cells[0] if len(cells) == 1 else rnn_cell.MultiRNNCell(cells)


def select_last_activations(activations: Any, sequence_lengths: Any) -> Any:
    """The values of the last step of each sequence."""
    if sequence_lengths is None:
        return activations[:, -1]
    with tf.name_scope("select_last_activations"):
        last = tf.cast(sequence_lengths, tf.int32) - 1
        rows = tf.range(tf.shape(activations)[0])
        found = tf.gather_nd(activations, tf.stack([rows, last], 1))
        found.set_shape([activations.shape[0], activations.shape[2]])
        return found


def mask_activations_and_labels(
    activations: Any, labels: Any, sequence_lengths: Any
) -> tuple[Any, Any]:
    """Steps of all sequences in one row, without what pads the shorter ones."""
    with tf.name_scope("mask_activations_and_labels"):
        labels_shape = tf.shape(labels)
        if sequence_lengths is None:
            flat = tf.reshape(activations, [-1, activations.shape[2]])
            return flat, tf.reshape(labels, [labels_shape[0] * labels_shape[1]])
        mask = tf.sequence_mask(sequence_lengths, labels_shape[1])
        return tf.boolean_mask(activations, mask), tf.boolean_mask(labels, mask)


def build_sequence_input(
    features: Mapping[str, Any],
    sequence_feature_columns: Any,
    context_feature_columns: Any,
    weight_collections: Any = None,
    scope: Any = None,
) -> Any:
    """What cells are fed: the columns of each step, and the context beside them."""
    features = dict(features)
    steps = sequence_input_from_feature_columns(
        features, sequence_feature_columns, weight_collections, scope=scope
    )
    if not context_feature_columns:
        return steps
    context = input_from_feature_columns(
        features, context_feature_columns, weight_collections, scope=scope
    )
    repeated = tf.tile(context[:, None], [1, tf.shape(steps)[1], 1])
    return tf.concat([steps, repeated], 2)


def _state_name(place: int) -> str:
    return f"{RNNKeys.STATE_PREFIX}_{place}"


def _initial_state(features: Mapping[str, Any], cell: Any) -> Any:
    flat = tf.nest.flatten(cell.state_size)
    names = [_state_name(place) for place in range(len(flat))]
    if not all(name in features for name in names):
        return None
    return tf.nest.pack_sequence_as(cell.state_size, [features[name] for name in names])


class DynamicRnnEstimator(Estimator):
    """A recurrent network over sequences of any length."""

    def __init__(
        self,
        problem_type: int,
        prediction_type: int,
        sequence_feature_columns: Any,
        context_feature_columns: Any = None,
        num_classes: int | None = None,
        num_units: Any = None,
        cell_type: Any = "basic_rnn",
        optimizer: Any = "SGD",
        learning_rate: float = 0.1,
        predict_probabilities: bool = False,
        momentum: float | None = None,
        gradient_clipping_norm: float | None = 5.0,
        dropout_keep_probabilities: Sequence[Any] | None = None,
        model_dir: str | None = None,
        feature_engineering_fn: Any = None,
        config: Any = None,
    ) -> None:
        if problem_type == ProblemType.CLASSIFICATION:
            if not num_classes:
                raise ValueError(
                    "For CLASSIFICATION problem_type, num_classes must be specified."
                )
        elif problem_type != ProblemType.LINEAR_REGRESSION:
            raise ValueError(
                "problem_type must be either ProblemType.LINEAR_REGRESSION or "
                f"ProblemType.CLASSIFICATION; got {problem_type}"
            )
        classifies = problem_type == ProblemType.CLASSIFICATION
        self._classes = num_classes or 0 if classifies else 0
        self._problem_type = problem_type
        self._prediction_type = prediction_type
        self._columns = sequence_feature_columns, context_feature_columns
        self._cell = num_units, cell_type, dropout_keep_probabilities
        self._probabilities = predict_probabilities
        if optimizer == "Momentum" and momentum is not None:
            self._optimizer: Any = lambda rate: tf.train.MomentumOptimizer(
                rate, momentum
            )
        else:
            self._optimizer = optimizer
        self._learning_rate = learning_rate
        self._clip = gradient_clipping_norm
        super().__init__(
            self._rnn_model_fn,
            model_dir=model_dir,
            config=config,
            feature_engineering_fn=feature_engineering_fn,
        )

    def _rnn_model_fn(self, features: Any, labels: Any, mode: str) -> ModelFnOps:
        single = self._prediction_type == PredictionType.SINGLE_VALUE
        if not single and self._prediction_type != PredictionType.MULTIPLE_VALUE:
            raise ValueError(
                "prediction_type must be one of PredictionType.MULTIPLE_VALUE or "
                f"PredictionType.SINGLE_VALUE; got {self._prediction_type}"
            )
        kind = "Classifier" if self._classes else "Regressor"
        with tf.name_scope(f"{'Single' if single else 'Multi'}ValueDynamicRNN{kind}"):
            return self._ops(features, labels, mode, single)

    def _ops(self, features: Any, labels: Any, mode: str, single: bool) -> ModelFnOps:
        units, kind, keep = self._cell
        cell = construct_rnn_cell(units, kind, keep if mode == ModeKeys.TRAIN else None)
        outputs, state = tf.nn.dynamic_rnn(
            cell,
            build_sequence_input(features, *self._columns),
            initial_state=_initial_state(features, cell),
            dtype=tf.float32,
            swap_memory=True,
        )
        width = self._classes if (self._classes or 0) > 2 else 1
        logits = fully_connected(outputs, width, activation_fn=None)
        lengths = features.get(RNNKeys.SEQUENCE_LENGTH_KEY)
        if single:
            logits = select_last_activations(logits, lengths)
        predictions = self._predictions(logits)
        alternatives = None
        if single:
            served = (self._problem_type, dict(predictions))
            alternatives = {"dynamic_rnn_output": served}
        for place, part in enumerate(tf.nest.flatten(state)):
            predictions[_state_name(place)] = part
        if mode == ModeKeys.INFER:
            return ModelFnOps(mode, predictions, output_alternatives=alternatives)
        if not single:
            logits, labels = mask_activations_and_labels(logits, labels, lengths)
        labels = tf.reshape(labels, [-1])
        loss = self._loss(logits, labels)
        metrics = {}
        if self._classes:
            chosen = self._predictions(logits)[PredictionKey.CLASSES]
            metrics[MetricKey.ACCURACY] = tf.metrics.accuracy(labels, chosen)
        train_op = None
        if mode == ModeKeys.TRAIN:
            train_op = optimize_loss(
                loss=loss,
                global_step=tf.train.get_global_step(),
                learning_rate=self._learning_rate,
                optimizer=self._optimizer,
                clip_gradients=self._clip,
            )
        return ModelFnOps(mode, predictions, loss, train_op, metrics, alternatives)

    def _loss(self, logits: Any, labels: Any) -> Any:
        if (self._classes or 0) > 2:
            return tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(
                    labels=labels, logits=logits
                )
            )
        flat, labels = tf.reshape(logits, [-1]), tf.cast(labels, tf.float32)
        if self._classes:
            return tf.reduce_mean(
                tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=flat)
            )
        return tf.reduce_mean(tf.square(flat - labels))

    def _predictions(self, logits: Any) -> dict[str, Any]:
        if not self._classes:
            return {PredictionKey.SCORES: tf.squeeze(logits, [-1])}
        if self._classes == 2:
            logits = tf.concat([tf.zeros_like(logits), logits], -1)
        found = {PredictionKey.CLASSES: tf.argmax(logits, -1)}
        if self._probabilities:
            found[PredictionKey.PROBABILITIES] = tf.nn.softmax(logits)
        return found
