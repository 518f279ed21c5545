"""``tf.contrib.timeseries``: autoregressive and step-by-step models of series.

The structural ensemble, models of anomalies, chained states and exports are not
here.
"""

from __future__ import annotations

from .autoregressive import ARModel, FlatPredictionModel
from .estimators import (
    ARRegressor,
    FilteringOnlyStateManager,
    PassthroughStateManager,
    TimeSeriesRegressor,
    predict_continuation_input_fn,
)
from .inputs import RandomWindowInputFn, WholeDatasetInputFn
from .keys import (
    FilteringResults,
    PredictionFeatures,
    PredictionResults,
    TrainEvalFeatures,
)
from .models import ModelOutputs, SequentialTimeSeriesModel, TimeSeriesModel
from .readers import CSVReader, NumpyReader, TFExampleReader

__all__ = [
    "ARModel",
    "ARRegressor",
    "CSVReader",
    "FilteringOnlyStateManager",
    "FilteringResults",
    "FlatPredictionModel",
    "ModelOutputs",
    "NumpyReader",
    "PassthroughStateManager",
    "PredictionFeatures",
    "PredictionResults",
    "RandomWindowInputFn",
    "SequentialTimeSeriesModel",
    "TFExampleReader",
    "TimeSeriesModel",
    "TimeSeriesRegressor",
    "TrainEvalFeatures",
    "WholeDatasetInputFn",
    "predict_continuation_input_fn",
]
