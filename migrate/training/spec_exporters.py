"""Exporters of an EvalSpec."""

from __future__ import annotations

import math
from typing import Any

import tensorflow as tf

from . import core, specs  # noqa: F401 specs is extended


def evaluate_and_export(
    trainer: core.Trainer, train_spec: Any, eval_spec: Any
) -> tuple[dict[str, Any], list[Any]]:
    """Evaluates the latest checkpoint; returns its figures and what is exported."""
    input_fn, steps, name, _, exporters, *_ = eval_spec
    results = trainer.evaluate(input_fn, steps, name=name)
    final = results["global_step"] >= (train_spec.max_steps or math.inf)
    exports = [
        exporter.export(
            trainer,
            f"{trainer.model_dir}/export/{exporter.name}",
            trainer.latest_checkpoint(),
            results,
            final,
        )
        for exporter in tf.nest.flatten(exporters or [])
    ]
    return results, exports
