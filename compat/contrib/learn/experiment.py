"""``Experiment`` and ``learn_runner``: a schedule around an Estimator."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from typing import Any

import tensorflow.compat.v1 as tf

from ...estimator import estimator as core
from ...estimator.run_config import RunConfig as CoreRunConfig
from ...estimator.task_types import TaskType
from ...estimator.training import start_server

__all__ = ["Experiment", "RunConfig", "TaskType", "run", "tune"]


class RunConfig(CoreRunConfig):
    """The run configuration of tf.contrib.learn."""

    def __init__(
        self,
        master: str | None = None,
        num_cores: int = 0,
        log_device_placement: bool = False,
        gpu_memory_fraction: float = 1,
        tf_random_seed: int | None = None,
        save_summary_steps: int = 100,
        save_checkpoints_secs: Any = None,
        save_checkpoints_steps: int | None = None,
        keep_checkpoint_max: int = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int = 100,
        protocol: Any = None,
        evaluation_master: str = "",
        model_dir: str | None = None,
        session_config: Any = None,
        session_creation_timeout_secs: float = 7200,
    ) -> None:
        del master, evaluation_master, session_creation_timeout_secs
        if session_config is None:
            session_config = tf.ConfigProto(
                log_device_placement=log_device_placement,
                inter_op_parallelism_threads=num_cores,
                intra_op_parallelism_threads=num_cores,
                gpu_options=tf.GPUOptions(
                    per_process_gpu_memory_fraction=gpu_memory_fraction
                ),
            )
        options: dict[str, Any] = {}
        if save_checkpoints_steps is not None:
            options["save_checkpoints_steps"] = save_checkpoints_steps
        elif save_checkpoints_secs:
            options["save_checkpoints_secs"] = save_checkpoints_secs
        super().__init__(
            model_dir=model_dir,
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            protocol=protocol,
            **options,
        )


class _EvaluateOnNewCheckpoint(tf.train.SessionRunHook):
    """Evaluates during training: every n steps, when there is a new checkpoint.

    As monitors did, it counts from step 0 and looks at the last step too, but not
    within some seconds after it looked before.
    """

    def __init__(
        self, experiment: Experiment, every: int, seconds: float | None
    ) -> None:
        self._experiment = experiment
        self._every = every
        self._seconds = -1.0 if seconds is None else seconds
        self._looked_at = float("-inf")
        self._last_step = 0
        self._last_path: str | None = None

    def begin(self) -> None:
        """Find the step counter."""
        self._step = tf.train.get_global_step()

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Evaluate when it is time."""
        step = int(run_context.session.run(self._step))
        last = step == self._experiment.train_steps
        if step < self._last_step + self._every and not last:
            return
        self._last_step = step
        if time.time() - self._looked_at <= self._seconds:
            return
        self._looked_at = time.time()
        path = tf.train.latest_checkpoint(self._experiment.estimator.model_dir)
        if path is None or path == self._last_path:
            return
        self._last_path = path
        self._experiment._call_evaluate()


class Experiment:
    """An Estimator with its input functions, steps and schedules."""

    def __init__(
        self,
        estimator: Any,
        train_input_fn: Any,
        eval_input_fn: Any,
        eval_metrics: Any = None,
        train_steps: int | None = None,
        eval_steps: int | None = 100,
        train_monitors: Any = None,
        eval_hooks: Any = None,
        local_eval_frequency: int | None = None,
        eval_delay_secs: float = 120,
        continuous_eval_throttle_secs: float = 60,
        min_eval_frequency: int | None = None,
        delay_workers_by_global_step: bool = False,
        export_strategies: Any = None,
        train_steps_per_iteration: int | None = None,
        checkpoint_and_export: bool = False,
        saving_listeners: Any = None,
        check_interval_secs: float = 5,
    ) -> None:
        self._core = isinstance(estimator, core.Estimator)
        if self._core and eval_metrics is not None:
            raise ValueError(
                "`eval_metrics` must be `None` with `tf.estimator.Estimator`. Use "
                "`eval_metric_ops` in `tf.estimator.EstimatorSpec` instead."
            )
        if not self._core and saving_listeners is not None:
            raise ValueError(
                "`saving_listeners` must be `None` with `tf.contrib.learn.Estimator`."
            )
        if train_steps_per_iteration is not None and not isinstance(
            train_steps_per_iteration, int
        ):
            raise ValueError("`train_steps_per_iteration` must be an integer.")
        self._estimator = estimator
        self._train_input_fn = train_input_fn
        self._eval_input_fn = eval_input_fn
        self._eval_metrics = eval_metrics
        self._train_steps = train_steps
        self._eval_steps = eval_steps
        self._train_monitors = list(train_monitors or [])
        self._eval_hooks = list(eval_hooks or [])
        self._eval_delay_secs = eval_delay_secs
        self._throttle = continuous_eval_throttle_secs
        self._min_eval_frequency = (
            min_eval_frequency
            if min_eval_frequency is not None
            else local_eval_frequency
            if local_eval_frequency is not None
            else 1
        )
        self._delay_by_step = delay_workers_by_global_step
        self._steps_per_iteration = train_steps_per_iteration
        self._checkpoint_and_export = checkpoint_and_export
        self._saving_listeners = saving_listeners
        self._check_interval = check_interval_secs
        self.reset_export_strategies(export_strategies)

    @property
    def estimator(self) -> Any:
        """The estimator that is trained."""
        return self._estimator

    @property
    def eval_metrics(self) -> Any:
        """The metrics added in evaluation."""
        return self._eval_metrics

    @property
    def train_steps(self) -> int | None:
        """How many steps training takes in all."""
        return self._train_steps

    @property
    def eval_steps(self) -> int | None:
        """How many batches an evaluation takes."""
        return self._eval_steps

    def extend_train_hooks(self, additional_hooks: Any) -> None:
        """Add hooks to training."""
        self._train_monitors.extend(additional_hooks)

    def reset_export_strategies(self, new_export_strategies: Any = None) -> Any:
        """Replace the export strategies; gives the old ones."""
        old = getattr(self, "_export_strategies", [])
        if new_export_strategies is None:
            self._export_strategies = []
        elif hasattr(new_export_strategies, "export_fn"):
            self._export_strategies = [new_export_strategies]
        else:
            self._export_strategies = list(new_export_strategies)
        return old

    def train(self, delay_secs: float | None = None) -> Any:
        """Train up to ``train_steps``, after a start-up delay for workers."""
        config = self._estimator.config
        if config.cluster_spec and config.task_type in (TaskType.WORKER,):
            delay = min(60, config.task_id * 5) if delay_secs is None else delay_secs
            if delay > 0:
                tf.logging.info("Waiting %d secs before starting training.", delay)
                time.sleep(delay)
        return self._call_train(self._train_steps)

    def _call_train(self, max_steps: int | None, extra_hooks: Any = ()) -> Any:
        config = self._estimator.config
        # TensorFlow 1.15 waits for ever unless TF_CONFIG says "environment": "cloud".
        if config.cluster_spec and config.master:
            start_server(config)
        hooks = [*self._train_monitors, *extra_hooks]
        if self._core:
            return self._estimator.train(
                self._train_input_fn,
                max_steps=max_steps,
                hooks=hooks,
                saving_listeners=self._saving_listeners,
            )
        return self._estimator.fit(
            input_fn=self._train_input_fn, max_steps=max_steps, monitors=hooks
        )

    def _call_evaluate(
        self,
        input_fn: Any = None,
        steps: Any = "default",
        name: str | None = None,
        checkpoint_path: str | None = None,
    ) -> Any:
        kwargs: dict[str, Any] = {
            "input_fn": input_fn or self._eval_input_fn,
            "steps": self._eval_steps if steps == "default" else steps,
            "hooks": self._eval_hooks,
            "name": name,
            "checkpoint_path": checkpoint_path,
        }
        if not self._core:
            kwargs["metrics"] = self._eval_metrics
        return self._estimator.evaluate(**kwargs)

    def evaluate(self, delay_secs: float | None = None, name: str | None = None) -> Any:
        """Evaluate the latest checkpoint, after a delay."""
        delay = self._eval_delay_secs if delay_secs is None else delay_secs
        if delay:
            tf.logging.info("Waiting %d secs before starting eval.", delay)
            time.sleep(delay)
        return self._call_evaluate(name=name or "one_pass")

    def local_run(self) -> Any:
        """Old name of `train_and_evaluate`."""
        return self.train_and_evaluate()

    def train_and_evaluate(self) -> Any:
        """Train, evaluating new checkpoints on the way and once at the end."""
        hooks = []
        if self._min_eval_frequency:
            hooks.append(
                _EvaluateOnNewCheckpoint(
                    self, self._min_eval_frequency, self._check_interval
                )
            )
        self._call_train(self._train_steps, hooks)
        result = self._call_evaluate()
        return result, self._maybe_export(result)

    def continuous_eval(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        evaluate_checkpoint_only_once: bool = True,
        continuous_eval_predicate_fn: Any = None,
        name: str = "continuous",
    ) -> Any:
        """Evaluate each new checkpoint until training is complete."""
        return self._continuous(
            self._eval_input_fn,
            name,
            delay_secs,
            throttle_delay_secs,
            evaluate_checkpoint_only_once,
            continuous_eval_predicate_fn,
            export=True,
        )

    def continuous_eval_on_train_data(
        self,
        delay_secs: float | None = None,
        throttle_delay_secs: float | None = None,
        continuous_eval_predicate_fn: Any = None,
        name: str = "continuous_on_train_data",
    ) -> Any:
        """The same on the training data."""
        return self._continuous(
            self._train_input_fn,
            name,
            delay_secs,
            throttle_delay_secs,
            True,
            continuous_eval_predicate_fn,
            export=False,
        )

    def _continuous(
        self,
        input_fn: Any,
        name: str,
        delay: float | None,
        throttle: float | None,
        once: bool,
        predicate: Callable[[Any], bool] | None,
        *,
        export: bool,
    ) -> Any:
        delay = self._eval_delay_secs if delay is None else delay
        throttle = self._throttle if throttle is None else throttle
        if delay:
            time.sleep(delay)
        last, result = None, None
        while predicate is None or predicate(result):
            started = time.time()
            path = tf.train.latest_checkpoint(self._estimator.model_dir)
            if path is not None and not (once and path == last):
                result = self._call_evaluate(input_fn, name=name, checkpoint_path=path)
                last = path
                if export:
                    self._maybe_export(result, path)
                if self._stopped(result):
                    break
            wait = throttle - (time.time() - started)
            if wait > 0:
                time.sleep(wait)
        return result

    def _stopped(self, result: Any) -> bool:
        return bool(
            result
            and self._train_steps
            and result.get("global_step", 0) >= self._train_steps
        )

    def continuous_train_and_eval(
        self, continuous_eval_predicate_fn: Any = None
    ) -> Any:
        """Train some steps, evaluate, and so on until ``train_steps``."""
        result = None
        if self._steps_per_iteration is None:
            per = self._min_eval_frequency or 1
            chunk = per if per > 1 else (self._train_steps or 0) // 10 or 1
        else:
            chunk = self._steps_per_iteration
        goal = self._train_steps if self._train_steps is not None else math.inf
        step = 0
        while step < goal:
            if continuous_eval_predicate_fn and not continuous_eval_predicate_fn(
                result
            ):
                break
            step = int(min(step + chunk, goal))
            self._call_train(step)
            result = self._call_evaluate()
            done = int(result["global_step"])
            if done < step:
                break  # the data ended
            step = done
        return result, self._maybe_export(result)

    def _maybe_export(self, result: Any, checkpoint_path: str | None = None) -> Any:
        base = os.path.join(str(self._estimator.model_dir), "export")
        return [
            strategy.export(
                self._estimator,
                os.path.join(base, strategy.name),
                checkpoint_path=checkpoint_path,
                eval_result=result,
            )
            for strategy in self._export_strategies
        ]

    def run_std_server(self) -> None:
        """Serve as a parameter server until killed."""
        start_server(self._estimator.config).join()

    def test(self) -> Any:
        """Train and evaluate one step, as a check of the whole set-up."""
        self._call_train(1)
        result = self._call_evaluate(steps=1, name="one_pass")
        self._maybe_export(result)
        return result


def _default_schedule(config: Any) -> str:
    if config is None or not config.cluster_spec:
        return "train_and_evaluate"
    schedules = {
        TaskType.MASTER: "train_and_evaluate",
        TaskType.CHIEF: "train_and_evaluate",
        TaskType.PS: "run_std_server",
        TaskType.WORKER: "train",
        TaskType.EVALUATOR: "continuous_eval",
    }
    if not config.task_type:
        raise ValueError("Must specify a schedule")
    if config.task_type not in schedules:
        raise ValueError(f"No default schedule for task type: {config.task_type}")
    return schedules[config.task_type]


def run(
    experiment_fn: Callable[..., Experiment],
    output_dir: str | None = None,
    schedule: str | None = None,
    run_config: Any = None,
    hparams: Any = None,
) -> Any:
    """Build an experiment and run the schedule that this process has in it."""
    if output_dir is not None and run_config is not None:
        raise ValueError("Cannot provide both `output_dir` and `run_config`")
    if not callable(experiment_fn):
        raise TypeError(f"Experiment builder [{experiment_fn}] is not callable.")
    if run_config is not None:
        if not run_config.model_dir:
            raise ValueError("Must specify a model directory in `run_config`.")
        experiment = experiment_fn(run_config, hparams)
    else:
        if not output_dir:
            raise ValueError("Must specify an output directory")
        experiment = experiment_fn(output_dir)
    if not isinstance(experiment, Experiment):
        raise TypeError("Experiment builder did not return an Experiment instance.")
    config = run_config or experiment.estimator.config
    schedule = schedule or _default_schedule(config)
    task = getattr(experiment, schedule, None)
    if task is None:
        raise ValueError(f"Schedule references non-existent task {schedule}")
    if not callable(task):
        raise TypeError(f"Schedule references non-callable member {schedule}")
    return task()


def tune(experiment_fn: Callable[..., Experiment], tuner: Any) -> None:
    """Run experiments for as long as a tuner proposes trials."""
    while tuner.next_trial():
        experiment = experiment_fn(tuner.run_config(), tuner.hparams())
        tuner.run_experiment(experiment)
