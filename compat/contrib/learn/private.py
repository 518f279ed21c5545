"""Names of private modules of ``tf.contrib.learn`` that programs import."""

from __future__ import annotations

from .keys import MetricKey
from .rnn import (
    PredictionType,
    RNNKeys,
    apply_dropout,
    build_sequence_input,
    construct_rnn_cell,
    mask_activations_and_labels,
    select_last_activations,
)

__all__ = [
    "MetricKey",
    "PredictionType",
    "RNNKeys",
    "apply_dropout",
    "build_sequence_input",
    "construct_rnn_cell",
    "mask_activations_and_labels",
    "select_last_activations",
]
