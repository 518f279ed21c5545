"""The jobs of a cluster, by their names in ``TF_CONFIG``."""

from __future__ import annotations

__all__ = ["TaskType"]


class TaskType:
    """Names of the jobs that an Estimator cluster knows."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"
