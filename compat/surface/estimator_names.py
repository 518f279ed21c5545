"""Where each public name of ``tf.estimator`` lives, for both generations.

``ESTIMATOR_V1`` is TF 1.15's ``tf.estimator`` (with the few names that only
1.12 had), ``ESTIMATOR_V2`` is TF 2.15's. A class that both share appears once
in the common part.
"""

from __future__ import annotations

from collections.abc import Iterable

from .namespace import Base, Entry, attribute

__all__ = ["ESTIMATOR_V1", "ESTIMATOR_V2"]


def _rows(names: Iterable[str], source: str, prefix: str = "") -> dict[str, Entry]:
    return {
        f"tf.estimator.{prefix}{name}": attribute(f"{source}.{name}")
        if ":" in source
        else attribute(f"{source}:{name}")
        for name in names
    }


# TensorFlow still ships the session hooks of the Estimator era.
_HOOKS = _rows(
    (
        "CheckpointSaverHook",
        "CheckpointSaverListener",
        "FeedFnHook",
        "FinalOpsHook",
        "GlobalStepWaiterHook",
        "LoggingTensorHook",
        "NanLossDuringTrainingError",
        "NanTensorHook",
        "ProfilerHook",
        "SecondOrStepTimer",
        "SessionRunArgs",
        "SessionRunContext",
        "SessionRunHook",
        "SessionRunValues",
        "StepCounterHook",
        "StopAtStepHook",
        "SummarySaverHook",
        "VocabInfo",
    ),
    "tensorflow.compat.v1:train",
)
_HOOKS["tf.estimator.SecondOrStepTimer"] = attribute(
    "tensorflow.compat.v1:train.SecondOrStepTimer"
)

_CORE = _rows(
    (
        "BestExporter",
        "Estimator",
        "EstimatorSpec",
        "EvalSpec",
        "Exporter",
        "FinalExporter",
        "LatestExporter",
        "ModeKeys",
        "RunConfig",
        "TrainSpec",
        "WarmStartSettings",
        "train_and_evaluate",
    ),
    "tfmigrate.compat.estimator",
)

_COMMON: dict[str, Entry] = {
    "tf.estimator": Base(lambda: None),
    **_HOOKS,
    **_CORE,
}

ESTIMATOR_V1: dict[str, Entry] = {**_COMMON}
ESTIMATOR_V2: dict[str, Entry] = {**_COMMON}
