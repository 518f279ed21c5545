"""``tf.contrib.learn.monitors``: what hooks were called before they were hooks."""

from __future__ import annotations

from .base import BaseMonitor, EveryN
from .hooks import RunHookAdapterForMonitors, replace_monitors_with_hooks
from .stock import (
    CaptureVariable,
    CheckpointSaver,
    LoggingTrainable,
    NanLoss,
    NanLossDuringTrainingError,
    PrintTensor,
    StepCounter,
    StopAtStep,
    SummarySaver,
    get_default_monitors,
)
from .validation import ValidationMonitor

__all__ = [
    "BaseMonitor",
    "CaptureVariable",
    "CheckpointSaver",
    "EveryN",
    "LoggingTrainable",
    "NanLoss",
    "NanLossDuringTrainingError",
    "PrintTensor",
    "RunHookAdapterForMonitors",
    "StepCounter",
    "StopAtStep",
    "SummarySaver",
    "ValidationMonitor",
    "get_default_monitors",
    "replace_monitors_with_hooks",
]
