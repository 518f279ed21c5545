"""The public ``tf.estimator`` surface."""

from __future__ import annotations

from . import experimental, export
from .estimator import Estimator, EstimatorV2
from .exporters import BestExporter, Exporter, FinalExporter, LatestExporter
from .extenders import add_metrics
from .mode_keys import ModeKeys
from .run_config import RunConfig
from .spec import EstimatorSpec
from .train_specs import EvalSpec, TrainSpec
from .training import train_and_evaluate
from .warm_start import VocabInfo, WarmStartSettings

__all__ = [
    "BestExporter",
    "Estimator",
    "EstimatorSpec",
    "EstimatorV2",
    "EvalSpec",
    "Exporter",
    "FinalExporter",
    "LatestExporter",
    "ModeKeys",
    "RunConfig",
    "TrainSpec",
    "VocabInfo",
    "WarmStartSettings",
    "add_metrics",
    "experimental",
    "export",
    "train_and_evaluate",
]
