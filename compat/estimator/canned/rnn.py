"""``tf.contrib.estimator.RNNClassifier`` and ``RNNEstimator``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ...engine import keras_private
from ..estimator import Estimator
from ..extenders import clip_gradients_by_norm
from ..heads import legacy as heads
from . import columns as fc
from .layers import Network, dense
from .optimizers import legacy_optimizer
from .partitioners import input_partitioner, variable_partitioner

__all__ = ["RNNClassifier", "RNNEstimator", "with_context"]

_LEARNING_RATE = 0.05
_CLIP_NORM = 5.0
_DEFAULT: Any = object()
MEAN: str = tf.losses.Reduction.SUM_OVER_BATCH_SIZE
CellFactory = Callable[[str], Any]


_CELLS: dict[str, Any] = {
    "basic_rnn": keras_private.rnn_cell.BasicRNNCell,
    "lstm": keras_private.rnn_cell.BasicLSTMCell,
    "gru": keras_private.rnn_cell.GRUCell,
}


def _cell_factory(
    rnn_cell_fn: CellFactory | None, num_units: Sequence[int] | None, cell_type: Any
) -> CellFactory:
    if rnn_cell_fn is not None:
        if num_units or cell_type is not _DEFAULT:
            raise ValueError(
                "num_units and cell_type must not be specified when using rnn_cell_fn"
            )
        return rnn_cell_fn
    kind = "basic_rnn" if cell_type is _DEFAULT else cell_type
    if not num_units:
        raise ValueError("num_units or rnn_cell_fn must be specified.")

    cell = _CELLS.get(kind, kind) if isinstance(kind, str) else kind
    if isinstance(cell, str):
        raise ValueError(f"Supported cell types are {list(_CELLS)}; got {cell_type}")
    units_of_layers = list(num_units)

    def make(mode: str) -> Any:
        del mode
        cells = [cell(num_units=units) for units in units_of_layers]
        return (
            cells[0] if len(cells) == 1 else keras_private.rnn_cell.MultiRNNCell(cells)
        )

    return make


def with_context(sequence: Any, context: Any) -> Any:
    """Repeats the context features at every time step."""
    message = "must have rank {} and dtype float32"
    for tensor, rank, name in ((sequence, 3, "sequence"), (context, 2, "context")):
        if tensor.shape.ndims != rank or tensor.dtype != tf.float32:
            raise ValueError(f"{name}_input " + message.format(rank))
    steps = tf.shape(sequence)[1]
    return tf.concat([sequence, tf.tile(context[:, tf.newaxis], [1, steps, 1])], 2)


def _last_outputs(outputs: Any, lengths: Any) -> Any:
    """The output at the last real step of every example."""
    batch = tf.cast(tf.range(tf.shape(outputs)[0]), tf.int64)
    index = tf.stack([batch, tf.cast(lengths, tf.int64) - 1], axis=1)
    last = tf.gather_nd(outputs, index)
    last.set_shape([outputs.shape[0], outputs.shape[2]])
    return last


def _model_fn(
    head: Any,
    make_cell: CellFactory,
    sequence_feature_columns: Sequence[Any] | None,
    context_feature_columns: Sequence[Any] | None,
    optimizer: Any,
    input_layer_partitioner: Any,
    return_sequences: bool,
) -> Callable[..., Any]:
    sequence_columns = tuple(sequence_feature_columns or ())
    context_columns = tuple(context_feature_columns or ())

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        fc.check_features(features)
        made = optimizer
        if not isinstance(optimizer, tf.train.Optimizer):
            # An optimizer given as an object clips as its owner decided.
            made = legacy_optimizer(optimizer, learning_rate=_LEARNING_RATE)
            made = clip_gradients_by_norm(made, _CLIP_NORM)
        with tf.variable_scope("rnn", partitioner=variable_partitioner(config)):
            with tf.variable_scope(
                "sequence_input_layer",
                partitioner=input_layer_partitioner or input_partitioner(config),
            ):
                inputs, lengths, _ = fc.sequence_input(features, sequence_columns)
                tf.summary.histogram("sequence_length", lengths)
                if context_columns:
                    context, _ = fc.dense_input(features, context_columns)
                    inputs = with_context(inputs, context)
            outputs, _ = tf.nn.dynamic_rnn(
                cell=make_cell(mode),
                inputs=inputs,
                sequence_length=lengths,
                dtype=tf.float32,
            )
            if not return_sequences:
                outputs = _last_outputs(outputs, lengths)
            with tf.variable_scope("logits"), tf.variable_scope("dense"):
                logits = dense(Network(), outputs, head.logits_dimension)
            mask_key = getattr(head, "input_sequence_mask_key", None)
            if return_sequences and mask_key and mask_key not in features:
                features[mask_key] = tf.sequence_mask(lengths)

            def train_op_fn(loss: Any) -> Any:
                return made.minimize(loss, global_step=tf.train.get_global_step())

            return head.create_estimator_spec(
                features=features,
                mode=mode,
                labels=labels,
                train_op_fn=train_op_fn,
                logits=logits,
            )

    return model_fn


class RNNClassifier(Estimator):
    """A classifier of sequences: one label per sequence."""

    def __init__(
        self,
        sequence_feature_columns: Sequence[Any],
        context_feature_columns: Sequence[Any] | None = None,
        num_units: Sequence[int] | None = None,
        cell_type: Any = _DEFAULT,
        rnn_cell_fn: CellFactory | None = None,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Adagrad",
        loss_reduction: str = MEAN,
        input_layer_partitioner: Any = None,
        config: Any = None,
    ) -> None:
        head = heads.binary_or_multi_class_head(
            n_classes,
            weight_column=weight_column,
            label_vocabulary=label_vocabulary,
            loss_reduction=loss_reduction,
        )
        super().__init__(
            model_fn=_model_fn(
                head,
                _cell_factory(rnn_cell_fn, num_units, cell_type),
                sequence_feature_columns,
                context_feature_columns,
                optimizer,
                input_layer_partitioner,
                False,
            ),
            model_dir=model_dir,
            config=config,
        )


class RNNEstimator(Estimator):
    """A recurrent network under any head."""

    def __init__(
        self,
        head: Any,
        sequence_feature_columns: Sequence[Any],
        context_feature_columns: Sequence[Any] | None = None,
        num_units: Sequence[int] | None = None,
        cell_type: Any = _DEFAULT,
        rnn_cell_fn: CellFactory | None = None,
        return_sequences: bool = False,
        model_dir: Any = None,
        optimizer: Any = "Adagrad",
        input_layer_partitioner: Any = None,
        config: Any = None,
    ) -> None:
        if return_sequences and not hasattr(head, "input_sequence_mask_key"):
            raise ValueError(
                "Provided head must be a `_SequentialHead` object when "
                "`return_sequences` is set to True: one with the property "
                "input_sequence_mask_key, which names the mask among the features."
            )
        super().__init__(
            model_fn=_model_fn(
                head,
                _cell_factory(rnn_cell_fn, num_units, cell_type),
                sequence_feature_columns,
                context_feature_columns,
                optimizer,
                input_layer_partitioner,
                return_sequences,
            ),
            model_dir=model_dir,
            config=config,
        )
