"""Estimators that train on all workers of a cluster, whatever the program says."""

from __future__ import annotations

from typing import Any

from .config import RunConfig
from .estimator import Estimator
from .keras import KerasEstimator, model_to_estimator
from .strategies import MultiWorkerMirroredStrategy


class MultiWorkerRunConfig(RunConfig):
    """As `RunConfig`; what trains is every worker that TF_CONFIG names, in step."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.train_distribute = MultiWorkerMirroredStrategy()


class MultiWorkerEstimator(Estimator):
    """As `Estimator`, on all workers also where the program gives no configuration."""

    def __init__(
        self,
        model_fn: Any,
        model_dir: Any = None,
        config: RunConfig | None = None,
        params: Any = None,
        warm_start_from: Any = None,
    ):
        config = config or MultiWorkerRunConfig()
        super().__init__(model_fn, model_dir, config, params, warm_start_from)


def model_to_multi_worker_estimator(
    keras_model: Any = None,
    keras_model_path: str | None = None,
    custom_objects: Any = None,
    model_dir: Any = None,
    config: RunConfig | None = None,
    **others: Any,
) -> KerasEstimator:
    """As `model_to_estimator`, on all workers."""
    config = config or MultiWorkerRunConfig()
    return model_to_estimator(
        keras_model, keras_model_path, custom_objects, model_dir, config, **others
    )
