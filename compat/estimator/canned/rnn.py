"""``tf.contrib.estimator.RNNClassifier`` and ``RNNEstimator``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ..estimator import Estimator
from ..heads import legacy as heads
from . import columns as fc
from .layers import Network, dense
from .optimizers import legacy_optimizer
from .partitioners import input_partitioner, variable_partitioner

__all__ = ["RNNClassifier", "RNNEstimator"]

_LEARNING_RATE = 0.05
_CLIP_NORM = 5.0
_DEFAULT: Any = object()
MEAN: str = tf.losses.Reduction.SUM_OVER_BATCH_SIZE
CellFactory = Callable[[str], Any]


def _cells() -> dict[str, Any]:
    from ...engine import legacy_layers

    cells = legacy_layers.rnn_cells()
    return {
        "basic_rnn": cells.BasicRNNCell,
        "lstm": cells.BasicLSTMCell,
        "gru": cells.GRUCell,
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

    def make(mode: str) -> Any:
        del mode
        known = _cells()
        cell = known.get(kind, kind) if isinstance(kind, str) else kind
        if isinstance(cell, str):
            raise ValueError(
                f"Supported cell types are {list(known)}; got {cell_type}"
            )
        cells = [cell(num_units=units) for units in num_units]
        return cells[0] if len(cells) == 1 else tf.nn.rnn_cell.MultiRNNCell(cells)

    return make
