"""Training with an evaluation, and exports, after its checkpoints."""

from __future__ import annotations

import os
import time
from typing import Any

from .asked import EXPORTS, HOOKS
from .estimator import Estimator
from .vocabulary import EvalSpec, TrainSpec, logger, v1


class EvaluateCheckpoints(v1.train.CheckpointSaverListener):
    """Evaluates a checkpoint once it is saved, and has it exported."""

    def __init__(
        self, estimator: Estimator, eval_spec: EvalSpec, max_steps: int | None
    ):
        self.estimator, self.spec, self.max_steps = estimator, eval_spec, max_steps
        self.metrics: dict[str, Any] | None = None
        self.exports: list[Any] | None = None
        self.evaluated: str | None = None
        self.evaluated_step: int | None = None
        self.evaluated_at = float("-inf")
        self.first_save = True

    def after_save(self, session: Any, global_step_value: int) -> None:
        """Evaluates, unless it has just been done."""
        if self.first_save:
            # What training starts from is nothing new.
            self.first_save = False
        elif time.time() >= self.evaluated_at + self.spec.throttle_secs:
            self.evaluate(global_step_value)
        else:
            logger.info(
                "Skip the current checkpoint eval due to throttle secs (%s secs).",
                self.spec.throttle_secs,
            )

    def end(self, session: Any, global_step_value: int) -> None:
        """Evaluates the last checkpoint, however soon it came."""
        if global_step_value != self.evaluated_step:
            self.evaluate(global_step_value)

    def evaluate(self, step: int) -> None:
        """Evaluates the latest checkpoint and hands the figures to the exporters."""
        self.evaluated_step, self.evaluated_at = step, time.time()
        checkpoint = self.estimator.latest_checkpoint()
        if not checkpoint or checkpoint == self.evaluated:
            raise RuntimeError("There was no new checkpoint after the training.")
        spec = self.spec
        metrics = self.estimator.evaluate(
            input_fn=spec.input_fn,
            steps=spec.steps,
            checkpoint_path=checkpoint,
            name=spec.name,
            hooks=spec.hooks if HOOKS else (),
        )
        self.metrics, self.evaluated = metrics, checkpoint
        self.exports = self.exported(metrics, checkpoint) if EXPORTS else []

    if EXPORTS:

        def exported(self, metrics: dict[str, Any], checkpoint: str) -> list[Any]:
            """What the exporters give for a checkpoint and its figures."""
            final = bool(self.max_steps and metrics["global_step"] >= self.max_steps)
            return [
                exporter.export(
                    estimator=self.estimator,
                    export_path=os.path.join(
                        self.estimator.model_dir, "export", exporter.name
                    ),
                    checkpoint_path=checkpoint,
                    eval_result=metrics,
                    is_the_final_export=final,
                )
                for exporter in self.spec.exporters
            ]


def train_and_evaluate(
    estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec
) -> Any:
    """Trains, evaluating checkpoints on the way and at the end.

    Gives the figures of the last evaluation and what its exporters gave. A program
    that TF_CONFIG makes the chief of a cluster trains only, as ever: evaluating was
    another task's.
    """
    for name, value, kind in (
        ("eval_spec", eval_spec, EvalSpec),
        ("estimator", estimator, Estimator),
        ("train_spec", train_spec, TrainSpec),
    ):
        if not isinstance(value, kind):
            raise TypeError(
                f"`{name}` must have type `{kind.__name__}`. Got: {type(value)}"
            )
    listeners = list(train_spec.saving_listeners) if HOOKS else []
    config = estimator.config
    alone = not config.cluster_spec and config.task_type != "evaluator"
    evaluations = EvaluateCheckpoints(estimator, eval_spec, train_spec.max_steps)
    if alone or config.task_type == "master":
        listeners.append(evaluations)
    if config.task_type == "evaluator":
        follow_checkpoints(evaluations, train_spec)
        return None
    estimator.train(
        train_spec.input_fn,
        hooks=train_spec.hooks if HOOKS else (),
        max_steps=train_spec.max_steps,
        saving_listeners=listeners,
    )
    if not alone:
        return None
    return evaluations.metrics, evaluations.exports


def follow_checkpoints(evaluations: EvaluateCheckpoints, train_spec: TrainSpec) -> None:
    """Evaluates new checkpoints of another process until training is over."""
    spec = evaluations.spec
    time.sleep(spec.start_delay_secs)
    while True:
        began = time.time()
        checkpoint = evaluations.estimator.latest_checkpoint()
        if checkpoint and checkpoint != evaluations.evaluated:
            evaluations.evaluate(int(checkpoint.rpartition("-")[2]))
            done = evaluations.metrics["global_step"] if evaluations.metrics else 0
            if train_spec.max_steps and done >= train_spec.max_steps:
                return
        # Asking a file system without pause helps nobody.
        time.sleep(max(1.0, spec.throttle_secs - (time.time() - began)))
