"""``tf.contrib.learn``: what programs still use of it, on top of Estimators."""

from __future__ import annotations

from . import datasets, io, learn_runner, preprocessing, utils
from .experiment import Experiment, RunConfig, TaskType
from .exports import (
    ExportStrategy,
    InputFnOps,
    build_parsing_serving_input_fn,
    make_export_strategy,
)
from .io import (
    read_batch_examples,
    read_batch_features,
    read_batch_record_features,
)
from .model_fns import Estimator, MetricSpec, ModeKeys, ModelFnOps, SKCompat

__all__ = [
    "Estimator",
    "Experiment",
    "ExportStrategy",
    "InputFnOps",
    "MetricSpec",
    "ModeKeys",
    "ModelFnOps",
    "RunConfig",
    "SKCompat",
    "TaskType",
    "build_parsing_serving_input_fn",
    "datasets",
    "io",
    "learn_runner",
    "make_export_strategy",
    "preprocessing",
    "read_batch_examples",
    "read_batch_features",
    "read_batch_record_features",
    "utils",
]
