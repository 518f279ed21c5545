"""Training and evaluation by the tasks of a cluster."""

from __future__ import annotations

from typing import Any

from . import cluster, specs


def train_and_evaluate(
    trainer: cluster.ClusterTrainer, train_spec: Any, eval_spec: Any
) -> tuple[Any, Any]:
    """Trains, and evaluates checkpoints; returns the last figures and exports."""
    evaluates = trainer.config.task_type in ("evaluator", "master")
    if trainer.config.cluster_spec and not evaluates:
        trainer.train(**train_spec._asdict())
        return None, None
    return specs.train_and_evaluate(trainer, train_spec, eval_spec)
