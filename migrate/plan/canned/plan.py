"""What a canned Estimator was asked to be, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from ..program import OptimizerPlan

__all__ = [
    "REDUCTIONS",
    "CannedPlan",
    "DeepPlan",
    "HeadPlan",
    "LinearPlan",
    "Task",
]

# What a head does with the losses of a batch, by the name of tf.losses.Reduction.
REDUCTIONS = {
    "SUM": "sum",
    "MEAN": "weighted_mean",
    "SUM_OVER_BATCH_SIZE": "mean",
    "SUM_OVER_NONZERO_WEIGHTS": "nonzero_mean",
    "SUM_BY_NONZERO_WEIGHTS": "nonzero_mean",
}


class Task:
    """What a canned Estimator learns."""

    BINARY = "binary"
    MULTI_CLASS = "multi-class"
    REGRESSION = "regression"


@dataclass(frozen=True)
class HeadPlan:
    """Loss, metrics and predictions of an Estimator.

    ``units`` is the number of logits for each example, ``vocabulary`` the names
    of the classes where labels are strings, ``weights`` the key of the feature
    that weighs examples. ``reduction`` names how a batch's losses became one:
    ``sum``, ``mean``, ``weighted_mean`` or ``nonzero_mean``.
    """

    task: str
    units: str
    vocabulary: str | None = None
    weights: str | None = None
    reduction: str = "sum"


@dataclass(frozen=True)
class DeepPlan:
    """Hidden layers on feature columns.

    ``hidden_units`` are the sizes one by one where the program spells them out,
    else the one expression for all of them. ``sparse`` says that an update may
    concern some rows of a variable only.
    """

    columns: str
    hidden_units: tuple[str, ...]
    spelled_out: bool
    activation: str | None
    dropout: str | None
    batch_norm: bool
    optimizer: OptimizerPlan
    sparse: bool


@dataclass(frozen=True)
class LinearPlan:
    """A weight for each value of each column.

    ``kind`` tells what the columns are: all ``categorical``, all ``numeric``, or
    ``mixed``, which is also said where it is not seen.
    """

    columns: str
    kind: str
    combiner: str
    optimizer: OptimizerPlan
    sparse: bool


@dataclass(frozen=True)
class CannedPlan:
    """A canned Estimator; a baseline has neither a deep nor a linear part."""

    name: str
    head: HeadPlan
    deep: DeepPlan | None = None
    linear: LinearPlan | None = None
    baseline: OptimizerPlan | None = None
