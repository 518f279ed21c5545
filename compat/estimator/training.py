"""``train_and_evaluate``: training with an evaluation after each checkpoint.

Alone, a process trains and evaluates in turns. In a cluster (``TF_CONFIG``)
each process plays its part: chief and workers train, parameter servers serve,
an evaluator follows the checkpoints; a ``master`` trains and evaluates.
"""

from __future__ import annotations

import copy
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import tensorflow.compat.v1 as tf

from ..engine import private_api, strategies
from . import cluster
from .cluster import TaskType
from .train_specs import EvalSpec, TrainSpec

__all__ = ["train_and_evaluate"]

# Workers start one after the other, so that the chief can make the variables.
_SECONDS_PER_WORKER = 5
_LONGEST_WORKER_DELAY = 60

# The same complaint (no checkpoint yet) is repeated at most this often.
_SECONDS_BETWEEN_WARNINGS = 600


def train_and_evaluate(
    estimator: Any, train_spec: TrainSpec, eval_spec: EvalSpec
) -> Any:
    """Trains ``estimator``, evaluating and exporting after checkpoints.

    Returns the metrics of the last evaluation and what its exporters returned,
    or None in a cluster, where no single process knows both.
    """
    from .estimator import Estimator

    if not isinstance(eval_spec, EvalSpec):
        raise TypeError(
            "`eval_spec` must have type `tf.estimator.EvalSpec`. "
            f"Got: {type(eval_spec)}"
        )
    if not isinstance(estimator, Estimator):
        raise TypeError(
            "`estimator` must have type `tf.estimator.Estimator`. "
            f"Got: {type(estimator)}"
        )
    if not isinstance(train_spec, TrainSpec):
        raise TypeError(
            "`train_spec` must have type `tf.estimator.TrainSpec`. "
            f"Got: {type(train_spec)}"
        )
    config = estimator.config
    if config._awaiting:
        estimator = estimator._in_place()
        config = estimator.config
    if config.task_type == TaskType.EVALUATOR and config.task_id > 0:
        raise ValueError(
            "For distributed training, there can only be one `evaluator` task "
            f"(with task id 0).  Given task id {config.task_id}"
        )
    evaluator = _Evaluator(estimator, train_spec, eval_spec)
    if config._remote_cluster:
        _train_on_servers(estimator, train_spec, eval_spec)
        return None
    if not config.cluster_spec and config.task_type != TaskType.EVALUATOR:
        tf.logging.info("Running training and evaluation locally (non-distributed).")
        return _run_local(estimator, train_spec, eval_spec, evaluator)
    _run_task(estimator, train_spec, eval_spec, evaluator)
    return None


class _Status(Enum):
    EVALUATED = "evaluated"
    MISSING_CHECKPOINT = "missing checkpoint"
    NO_NEW_CHECKPOINT = "no new checkpoint"


@dataclass(frozen=True)
class _Evaluation:
    """How one attempt to evaluate ended."""

    status: _Status
    metrics: dict[str, Any] | None = None
    exports: list[Any] = field(default_factory=list)


class _Evaluator:
    """Evaluates and exports each checkpoint once."""

    def __init__(
        self, estimator: Any, train_spec: TrainSpec, eval_spec: EvalSpec
    ) -> None:
        self._estimator = estimator
        self._eval_spec = eval_spec
        self._max_steps = train_spec.max_steps
        self._last_checkpoint: str | None = None
        self._last_warning = float("-inf")

    def evaluate_and_export(self) -> _Evaluation:
        checkpoint = self._estimator.latest_checkpoint()
        if not checkpoint:
            self._warn(
                "Estimator is not trained yet. Will start an evaluation when a "
                "checkpoint is ready."
            )
            return _Evaluation(_Status.MISSING_CHECKPOINT)
        if checkpoint == self._last_checkpoint:
            self._warn(
                "No new checkpoint ready for evaluation. Skip the current "
                "evaluation pass as evaluation results are expected to be same for "
                "the same checkpoint."
            )
            return _Evaluation(_Status.NO_NEW_CHECKPOINT)
        spec = self._eval_spec
        metrics = self._estimator.evaluate(
            input_fn=spec.input_fn,
            steps=spec.steps,
            name=spec.name,
            checkpoint_path=checkpoint,
            hooks=spec.hooks,
        )
        # Subclasses override evaluate(): say what is wrong where it is seen.
        if not isinstance(metrics, dict):
            raise TypeError(
                f"`Estimator.evaluate` should return dict. Given {type(metrics)}."
            )
        if tf.GraphKeys.GLOBAL_STEP not in metrics:
            raise ValueError(
                "`Estimator.evaluate` result should have `global_step` in result. "
                f"Given {metrics}"
            )
        step = metrics[tf.GraphKeys.GLOBAL_STEP]
        is_final = bool(self._max_steps and step >= self._max_steps)
        exports = self._export(checkpoint, metrics, is_final)
        self._last_checkpoint = checkpoint
        self._last_warning = float("-inf")
        return _Evaluation(_Status.EVALUATED, metrics, exports)

    def _export(
        self, checkpoint: str, metrics: dict[str, Any], is_final: bool
    ) -> list[Any]:
        base = os.path.join(os.fsdecode(self._estimator.model_dir), "export")
        return [
            exporter.export(
                estimator=self._estimator,
                export_path=os.path.join(base, os.fsdecode(exporter.name)),
                checkpoint_path=checkpoint,
                eval_result=metrics,
                is_the_final_export=is_final,
            )
            for exporter in self._eval_spec.exporters
        ]

    def _warn(self, message: str) -> None:
        now = time.time()
        if now - self._last_warning > _SECONDS_BETWEEN_WARNINGS:
            tf.logging.warning(message)
            self._last_warning = now


class _EvaluateNewCheckpoint(tf.train.CheckpointSaverListener):
    """Evaluates after a checkpoint was saved, at most every ``throttle_secs``."""

    def __init__(self, evaluator: _Evaluator, throttle_secs: float) -> None:
        self._evaluator = evaluator
        self._throttle_secs = throttle_secs
        self.last: _Evaluation | None = None

    def begin(self) -> None:
        self._timer = tf.train.SecondOrStepTimer(every_secs=self._throttle_secs)
        self._is_first_save = True

    def after_save(self, session: Any, global_step_value: int) -> None:
        if self._is_first_save:
            # The checkpoint that starts a training run holds nothing new.
            self._is_first_save = False
        elif self._timer.should_trigger_for_step(global_step_value):
            self._evaluate(global_step_value)
        else:
            tf.logging.info(
                "Skip the current checkpoint eval due to throttle secs (%s secs).",
                self._throttle_secs,
            )

    def end(self, session: Any, global_step_value: int) -> None:
        # However short the training was, its last checkpoint is evaluated.
        if global_step_value != self._timer.last_triggered_step():
            self._evaluate(global_step_value)

    def _evaluate(self, step: int) -> None:
        self._timer.update_last_triggered_step(step)
        self.last = self._evaluator.evaluate_and_export()
        if self.last.status is not _Status.EVALUATED:
            raise RuntimeError(
                "There was no new checkpoint after the training. "
                f"Eval status: {self.last.status.value}"
            )


def _train(
    estimator: Any, train_spec: TrainSpec, listeners: Sequence[Any] = ()
) -> None:
    estimator.train(
        input_fn=train_spec.input_fn,
        max_steps=train_spec.max_steps,
        hooks=list(train_spec.hooks),
        saving_listeners=[*listeners, *train_spec.saving_listeners],
    )


def _run_local(
    estimator: Any, train_spec: TrainSpec, eval_spec: EvalSpec, evaluator: _Evaluator
) -> tuple[dict[str, Any] | None, list[Any] | None]:
    tf.logging.info(
        "Start train and evaluate loop. The evaluate will happen after every "
        "checkpoint. Checkpoint frequency is determined based on RunConfig "
        "arguments: save_checkpoints_steps %s or save_checkpoints_secs %s.",
        estimator.config.save_checkpoints_steps,
        estimator.config.save_checkpoints_secs,
    )
    listener = _EvaluateNewCheckpoint(evaluator, eval_spec.throttle_secs)
    _train(estimator, train_spec, [listener])
    if listener.last is None:
        return None, None
    return listener.last.metrics, listener.last.exports


# -- parts in a cluster -------------------------------------------------------


def _run_task(
    estimator: Any, train_spec: TrainSpec, eval_spec: EvalSpec, evaluator: _Evaluator
) -> None:
    config = estimator.config
    task = config.task_type
    if not task:
        raise ValueError(
            "`estimator.config` must have task_type set. This usually means "
            "TF_CONFIG environment is not set correctly."
        )
    if task == "local":
        raise ValueError(
            "`task.type` in TF_CONFIG cannot be `local`. Leaving `cluster` and "
            "`task` properties in TF_CONFIG absent triggers train and evaluate "
            "`Estimator` locally (non-distributed)."
        )
    if task == TaskType.EVALUATOR:
        _follow_checkpoints(train_spec, eval_spec, evaluator)
    elif task == TaskType.PS:
        start_server(config).join()
    elif task in (TaskType.CHIEF, TaskType.WORKER, TaskType.MASTER):
        if cluster.is_collective(config.train_distribute):
            _train_together(estimator, train_spec)
            return
        if task != TaskType.MASTER:  # as there: no strategy knows of masters
            strategies.enter_cluster(config.train_distribute, config)
        start_server(config)
        _wait_for_turn(config)
        listeners = []
        if task == TaskType.MASTER:
            listeners = [_EvaluateNewCheckpoint(evaluator, eval_spec.throttle_secs)]
        _train(estimator, train_spec, listeners)
    else:
        known = ["chief", "evaluator", "master", "ps", "worker"]
        raise ValueError(
            f"Task type {task} is not supported. Supported task types are {known}"
        )


def _train_together(estimator: Any, train_spec: TrainSpec) -> None:
    """This worker's part where all workers take each step together."""

    def train(strategy: Any) -> None:
        here = copy.copy(estimator)
        here._train_distribution = strategy
        _train(here, train_spec)

    config = estimator.config
    private_api.run_in_cluster(train, config.train_distribute, config.session_config)


def _train_on_servers(
    estimator: Any, train_spec: TrainSpec, eval_spec: EvalSpec
) -> None:
    """Every worker's part, on servers that compute and know nothing of the program."""

    def as_task() -> Any:
        context = private_api.cluster_context()
        here = copy.copy(estimator)
        here._config = config._as_task(context.task_type, context.task_id)
        return here

    def train(strategy: Any) -> None:
        here = as_task()
        here._train_distribution = strategy
        # What a hook fetches is in one graph, and each worker has its own.
        mine = train_spec if here.config.is_chief else train_spec._replace(hooks=())
        _train(here, mine)

    def evaluate(_: Any) -> None:
        here = as_task()
        _follow_checkpoints(
            train_spec, eval_spec, _Evaluator(here, train_spec, eval_spec)
        )

    config = estimator.config
    private_api.run_on_servers(
        train,
        config.train_distribute,
        evaluate,
        config._remote_cluster,
        config.session_config,
    )


# Servers of this process by address: a port can be listened on only once, and
# programs call train_and_evaluate repeatedly.
_servers: dict[tuple[str, int, str], Any] = {}


def start_server(config: Any) -> Any:
    """This task's server, started on first use; None for a lone trainer."""
    spec = config.cluster_spec
    if not spec or not config.task_type or config.task_id is None:
        raise RuntimeError(
            "Could not start server; be sure to specify cluster_spec, task_type, "
            "and task in RunConfig or set the TF_CONFIG environment variable."
        )
    if not config.master:
        jobs = spec.jobs
        alone = len(jobs) == 1 and len(spec.job_tasks(jobs[0])) == 1
        if alone and config.task_type != TaskType.PS:
            tf.logging.info(
                "Skip starting Tensorflow server as there is only one node in the "
                "cluster."
            )
            return None
        raise RuntimeError(
            "Could not start server; be sure to specify master in RunConfig or set "
            "the TF_CONFIG environment variable."
        )
    key = (config.task_type, config.task_id, str(spec.as_dict()))
    if key not in _servers:
        tf.logging.info("Start Tensorflow server.")
        session_config = tf.ConfigProto(log_device_placement=False)
        if config.session_config is not None:
            session_config.gpu_options.CopyFrom(config.session_config.gpu_options)
        _servers[key] = tf.train.Server(
            spec,
            job_name=config.task_type,
            task_index=config.task_id,
            config=session_config,
            protocol=config.protocol,
        )
    return _servers[key]


def _wait_for_turn(config: Any) -> None:
    if config.task_type != TaskType.WORKER:
        return
    longest = config.experimental_max_worker_delay_secs
    longest = _LONGEST_WORKER_DELAY if longest is None else int(longest)
    delay = min(longest, (config.task_id + 1) * _SECONDS_PER_WORKER)
    if delay > 0:
        tf.logging.info("Waiting %d secs before starting training.", delay)
        time.sleep(delay)


def _follow_checkpoints(
    train_spec: TrainSpec, eval_spec: EvalSpec, evaluator: _Evaluator
) -> None:
    """Evaluates new checkpoints until training has reached ``max_steps``."""
    if eval_spec.start_delay_secs:
        tf.logging.info(
            "Waiting %f secs before starting eval.", eval_spec.start_delay_secs
        )
        time.sleep(eval_spec.start_delay_secs)
    while True:
        started = time.time()
        result = evaluator.evaluate_and_export()
        if result.metrics is not None and train_spec.max_steps:
            step = result.metrics[tf.GraphKeys.GLOBAL_STEP]
            if step >= train_spec.max_steps:
                tf.logging.info(
                    "Exiting evaluation, global_step=%s >= train max_steps=%s",
                    step,
                    train_spec.max_steps,
                )
                return
        wait = eval_spec.throttle_secs - (time.time() - started)
        if wait > 0:
            tf.logging.info("Waiting %f secs before starting next eval run.", wait)
        elif result.status is not _Status.EVALUATED:
            # Asking a file system without pause helps nobody.
            wait = 1.0
        if wait > 0:
            time.sleep(wait)
