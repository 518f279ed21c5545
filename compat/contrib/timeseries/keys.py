"""Names of the features that series are made of."""

from __future__ import annotations

__all__ = [
    "FilteringResults",
    "PredictionFeatures",
    "PredictionResults",
    "TrainEvalFeatures",
]


class TrainEvalFeatures:
    """What training and evaluation read."""

    TIMES = "times"
    VALUES = "values"


class FilteringResults:
    """What an evaluation gives besides predictions."""

    TIMES = "times"
    STATE_TUPLE = "start_tuple"


class PredictionFeatures(FilteringResults):
    """What prediction reads: a state, and the times that come after it."""


class PredictionResults:
    """What prediction gives besides predictions."""

    TIMES = "times"
