"""Recurrent models of TF 2: ``tf.estimator.experimental.RNN*`` with Keras layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf
import tf_keras

from ..estimator import Estimator
from ..heads import modern as heads
from ..heads.base import MEAN_OVER_BATCH
from ..heads.sequential import SequentialHeadWrapper
from ..mode_keys import ModeKeys
from . import columns as fc
from .modern_training import counting_optimizer
from .optimizers import read_early
from .rnn import with_context

__all__ = ["RNNClassifier", "RNNEstimator"]

_DEFAULT: Any = object()
_SEQUENCE_MASK = "sequence_mask"
_LEARNING_RATE = 0.05
_CLIP_NORM = 5.0
CellFactory = Callable[[], Any]

# The version that v1 behaviour took in TF 1.15 cannot run on GPUs; names and
# mathematics of these are the same.
_CELLS: dict[str, Any] = {
    "simple_rnn": tf_keras.layers.SimpleRNNCell,
    "lstm": tf_keras.layers.LSTMCell,
    "gru": tf_keras.layers.GRUCell,
}
_LAYERS: dict[str, Any] = {"lstm": tf_keras.layers.LSTM, "gru": tf_keras.layers.GRU}


def _check_cells(
    rnn_cell_fn: CellFactory | None, units: Any, cell_type: Any, *, has_sequences: bool
) -> None:
    if rnn_cell_fn is not None and (units is not None or cell_type is not _DEFAULT):
        raise ValueError(
            "units and cell_type must not be specified when using rnn_cell_fn"
        )
    if rnn_cell_fn is None and units is None:
        raise ValueError("units must be specified when rnn_cell_fn is not given.")
    if not has_sequences:
        raise ValueError("sequence_feature_columns must not be empty.")


def _cell(cell_type: Any, units: int) -> Any:
    kind = "simple_rnn" if cell_type is _DEFAULT else cell_type
    made = _CELLS.get(kind, kind) if isinstance(kind, str) else kind
    if not callable(made):
        raise ValueError(
            "`cell_type` should be a class producing a RNN cell, or a string "
            f"specifying the cell type. Supported strings are: {list(_CELLS)}."
        )
    cell = made(units=units)
    if not hasattr(cell, "call") or not hasattr(cell, "state_size"):
        raise ValueError("RNN cell should have a `call` and `state_size` method.")
    return cell


def _layer(
    rnn_cell_fn: CellFactory | None,
    units: Any,
    cell_type: Any,
    return_sequences: bool,
) -> Any:
    """The Keras layer that an Estimator's arguments describe."""
    if rnn_cell_fn is not None:
        return tf_keras.layers.RNN(rnn_cell_fn(), return_sequences, name="rnn")
    listed = [units] if isinstance(units, int) else list(units)
    if len(listed) == 1 and isinstance(cell_type, str) and cell_type in _LAYERS:
        made = _LAYERS[cell_type]
        return made(listed[0], return_sequences=return_sequences, name="rnn")
    cells = [_cell(cell_type, each) for each in listed]
    cell = cells[0] if len(cells) == 1 else tf_keras.layers.StackedRNNCells(cells)
    return tf_keras.layers.RNN(cell, return_sequences=return_sequences, name="rnn")


def _optimizer_of(optimizer: Any) -> Any:
    """One that is given by name is careful, for gradients through time may be large."""
    made = counting_optimizer(optimizer, learning_rate=_LEARNING_RATE)
    if isinstance(optimizer, str):
        made.clipnorm = _CLIP_NORM
    return made


def _model_fn(
    head: Any,
    make_layer: Callable[[], Any],
    sequence_feature_columns: Sequence[Any],
    context_feature_columns: Sequence[Any] | None,
    optimizer: Any,
    return_sequences: bool,
) -> Callable[..., Any]:
    sequence_columns = tuple(sequence_feature_columns)
    context_columns = tuple(context_feature_columns or ())
    optimizer = read_early(optimizer)

    def model_fn(features: Any, labels: Any, mode: str, config: Any) -> Any:
        del config
        made = _optimizer_of(optimizer) if mode == ModeKeys.TRAIN else None
        fc.check_features(features)
        with tf.variable_scope(
            tf.get_variable_scope(), use_resource=True, auxiliary_name_scope=False
        ):
            inputs, lengths, variables = fc.sequence_input(
                features, sequence_columns, scope="sequence_features"
            )
            with tf.name_scope("rnn_model/sequence_input_layer/"):
                tf.summary.histogram("sequence_length", lengths)
            if context_columns:
                context, trained = fc.dense_input(
                    features, context_columns, scope="dense_features"
                )
                inputs = with_context(inputs, context)
                variables = [*variables, *trained]
        layer = make_layer()
        logits_layer = tf_keras.layers.Dense(head.logits_dimension, name="logits")
        mask = tf.sequence_mask(lengths)
        # Lengths may know less of the batch than the inputs; states have both.
        mask.set_shape(inputs.shape[:1].concatenate(mask.shape[1:]))
        with tf.name_scope("rnn_model"):
            logits = logits_layer(
                layer(inputs, mask=mask, training=mode == ModeKeys.TRAIN)
            )
        if return_sequences and head.input_sequence_mask_key not in features:
            features[head.input_sequence_mask_key] = mask
        layers = (layer, logits_layer)
        return head.create_estimator_spec(
            features=features,
            mode=mode,
            labels=labels,
            optimizer=made,
            logits=logits,
            trainable_variables=[
                *variables,
                *(v for each in layers for v in each.trainable_variables),
            ],
            update_ops=[u for each in layers for u in each.updates],
        )

    return model_fn


class RNNEstimator(Estimator):
    """A recurrent network on sequence columns under any TF 2 head.

    Its base is TF 1's Estimator, as it was there: `export_savedmodel` is not hidden.
    """

    def __init__(
        self,
        head: Any,
        sequence_feature_columns: Sequence[Any],
        context_feature_columns: Sequence[Any] | None = None,
        units: Any = None,
        cell_type: Any = _DEFAULT,
        rnn_cell_fn: CellFactory | None = None,
        return_sequences: bool = False,
        model_dir: Any = None,
        optimizer: Any = "Adagrad",
        config: Any = None,
    ) -> None:
        if return_sequences and not isinstance(head, SequentialHeadWrapper):
            raise ValueError(
                "Provided head must be a `_SequentialHead` object when "
                "`return_sequences` is set to True."
            )
        _check_cells(
            rnn_cell_fn, units, cell_type, has_sequences=bool(sequence_feature_columns)
        )
        super().__init__(
            model_fn=_model_fn(
                head,
                lambda: _layer(rnn_cell_fn, units, cell_type, return_sequences),
                sequence_feature_columns,
                context_feature_columns,
                optimizer,
                return_sequences,
            ),
            model_dir=model_dir,
            config=config,
        )


class RNNClassifier(RNNEstimator):
    """A classifier of sequences, or of every step of them."""

    def __init__(
        self,
        sequence_feature_columns: Sequence[Any],
        context_feature_columns: Sequence[Any] | None = None,
        units: Any = None,
        cell_type: Any = _DEFAULT,
        rnn_cell_fn: CellFactory | None = None,
        return_sequences: bool = False,
        model_dir: Any = None,
        n_classes: int = 2,
        weight_column: Any = None,
        label_vocabulary: Sequence[str] | None = None,
        optimizer: Any = "Adagrad",
        loss_reduction: Any = MEAN_OVER_BATCH,
        sequence_mask: str = _SEQUENCE_MASK,
        config: Any = None,
    ) -> None:
        head: Any = heads.binary_or_multi_class_head(
            n_classes,
            weight_column=weight_column,
            label_vocabulary=label_vocabulary,
            loss_reduction=loss_reduction,
        )
        if return_sequences:
            tf.logging.info(
                "Converting head to sequential head with "
                "`SequentialHeadWrapper` to allow sequential predictions."
            )
            head = SequentialHeadWrapper(
                head, sequence_length_mask=sequence_mask, feature_columns=weight_column
            )
        super().__init__(
            head=head,
            sequence_feature_columns=sequence_feature_columns,
            context_feature_columns=context_feature_columns,
            units=units,
            cell_type=cell_type,
            rnn_cell_fn=rnn_cell_fn,
            return_sequences=return_sequences,
            model_dir=model_dir,
            optimizer=optimizer,
            config=config,
        )
