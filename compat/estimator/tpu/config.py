"""``TPUConfig``, ``InputPipelineConfig`` and the TPU ``RunConfig``."""

from __future__ import annotations

import json
import os
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

from .. import run_config

__all__ = ["InputPipelineConfig", "RunConfig", "TPUConfig", "check_positive"]


class InputPipelineConfig:
    """Where ``input_fn`` runs on a TPU system; without one it runs once."""

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


def check_positive(value: Any, name: str) -> int:
    """`value`, if it is a whole number above zero."""
    if isinstance(value, bool) or int(value) != value or value <= 0:
        raise ValueError(f"{name} must be positive, got {value}.")
    return int(value)


class _Fields(NamedTuple):
    iterations_per_loop: Any
    num_shards: int | None
    num_cores_per_replica: int | None
    per_host_input_for_training: Any
    tpu_job_name: str | None
    initial_infeed_sleep_secs: int | None
    input_partition_dims: Any
    eval_training_input_configuration: int
    experimental_host_call_every_n_steps: int


class TPUConfig(_Fields):
    """Settings of a TPU system; checked, then without effect off TPU."""

    __slots__ = ()

    def __new__(
        cls,
        iterations_per_loop: Any = 2,
        num_shards: int | None = None,
        num_cores_per_replica: int | None = None,
        per_host_input_for_training: Any = True,
        tpu_job_name: str | None = None,
        initial_infeed_sleep_secs: int | None = None,
        input_partition_dims: Any = None,
        eval_training_input_configuration: int = InputPipelineConfig.PER_HOST_V1,
        experimental_host_call_every_n_steps: int = 1,
    ) -> TPUConfig:
        iterations_of(iterations_per_loop)
        if num_shards is not None:
            check_positive(num_shards, "TPUConfig num_shards")
        # False and True are the oldest spelling of per shard and per host.
        if per_host_input_for_training is False:
            per_host_input_for_training = InputPipelineConfig.PER_SHARD_V1
        elif per_host_input_for_training is True:
            per_host_input_for_training = InputPipelineConfig.PER_HOST_V1
        if input_partition_dims is not None:
            if len(input_partition_dims) not in (1, 2):
                raise ValueError(
                    "input_partition_dims must be a list/tuple with one or two "
                    "elements."
                )
            if per_host_input_for_training != InputPipelineConfig.PER_HOST_V2:
                raise ValueError(
                    "input_partition_dims is only supported in PER_HOST_V2 mode."
                )
            if num_cores_per_replica is None:
                raise ValueError(
                    "input_partition_dims requires setting num_cores_per_replica."
                )
        allowed = [1, 2, 4, 8, 16, 32, 64, 128]
        if num_cores_per_replica is not None and num_cores_per_replica not in allowed:
            raise ValueError(
                "num_cores_per_replica must be 1, 2, 4, 8, 16, 32, 64, 128; "
                f"got {num_cores_per_replica}"
            )
        if eval_training_input_configuration not in (
            InputPipelineConfig.PER_HOST_V1,
            InputPipelineConfig.SLICED,
        ):
            raise ValueError(
                "eval_training_input_configuration must be PER_HOST_V1 or SLICED; "
                f"got {eval_training_input_configuration}"
            )
        if initial_infeed_sleep_secs:
            check_positive(
                initial_infeed_sleep_secs, "TPUConfig initial_infeed_sleep_secs"
            )
        return super().__new__(
            cls,
            iterations_per_loop,
            num_shards,
            num_cores_per_replica,
            per_host_input_for_training,
            tpu_job_name or _job_name_of_environment(),
            initial_infeed_sleep_secs,
            input_partition_dims,
            eval_training_input_configuration,
            experimental_host_call_every_n_steps,
        )


def iterations_of(iterations_per_loop: Any) -> int | None:
    """Steps per TPU loop; None when the loop is given in time (``"30s"``)."""
    if isinstance(iterations_per_loop, str):
        text = iterations_per_loop.strip().lower()
        if text.isdigit():
            return check_positive(int(text), "TPUConfig iterations_per_loop")
        number, unit = text[:-1], text[-1:]
        if unit in "hms" and unit and number.isdigit() and int(number) > 0:
            return None
        raise ValueError(
            "Either a number or a time such as '30s', '5m' or '1h' is expected for "
            f"iterations_per_loop, got {iterations_per_loop!r}."
        )
    return check_positive(iterations_per_loop, "TPUConfig iterations_per_loop")


def _job_name_of_environment() -> str | None:
    settings = json.loads(os.environ.get("TF_CONFIG") or "{}")
    name: str | None = settings.get("service", {}).get("tpu_worker_job_name")
    return name


class RunConfig(run_config.RunConfig):
    """A ``RunConfig`` with the settings of a TPU system."""

    def __init__(
        self,
        tpu_config: TPUConfig | None = None,
        evaluation_master: str | None = None,
        master: str | None = None,
        cluster: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._tpu_config = tpu_config or TPUConfig()
        self._cluster = cluster
        if master is not None:
            if cluster is not None:
                raise ValueError("Both master and cluster are set.")
            self._master = master
        elif cluster:
            self._master = cluster.master()
        if evaluation_master is not None:
            self._evaluation_master = evaluation_master
        elif (
            not self._evaluation_master
            and self.task_type != run_config.TaskType.EVALUATOR
        ):
            self._evaluation_master = self._master
        if cluster:
            self._adopt_cluster(cluster)

    def _adopt_cluster(self, cluster: Any) -> None:
        self._cluster_spec = cluster.cluster_spec()
        session_config: Any = self.session_config
        if session_config is None:
            session_config = tf.ConfigProto(
                allow_soft_placement=True, isolate_session_state=True
            )
        if session_config.HasField("cluster_def"):
            raise ValueError(
                "You cannot provide a ClusterResolver and session_config.cluster_def."
            )
        if self._cluster_spec:
            session_config.cluster_def.CopyFrom(self._cluster_spec.as_cluster_def())
        self._session_config = session_config

    def _maybe_overwrite_session_config_for_distributed_training(self) -> None:
        """TPU hosts talk to each other: no device filters."""

    @property
    def tpu_config(self) -> TPUConfig:
        """Settings of the TPU system."""
        return self._tpu_config

    @property
    def cluster(self) -> Any:
        """The resolver of the TPU system, if one was given."""
        return self._cluster

    def replace(self, **kwargs: Any) -> RunConfig:
        """A copy with some settings replaced."""
        has_tpu = "tpu_config" in kwargs
        tpu_config = kwargs.pop("tpu_config", None)
        copied: RunConfig = super().replace(**kwargs)  # type: ignore[assignment]
        if has_tpu:
            copied._tpu_config = tpu_config
        return copied
