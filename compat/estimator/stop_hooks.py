"""Stopping at a step that all processes of a cluster agree on."""

from __future__ import annotations

import time
from typing import Any

import tensorflow.compat.v1 as tf

__all__ = ["make_stop_at_checkpoint_step_hook"]


def make_stop_at_checkpoint_step_hook(
    estimator: Any, last_step: int, wait_after_file_check_secs: float = 30
) -> tf.train.SessionRunHook:
    """A hook that stops at ``last_step``, once that step is in a checkpoint.

    The chief stops at the step; other workers wait for its checkpoint, so that
    none leaves while the chief could still need it.
    """
    if estimator.config.is_chief:
        return tf.train.StopAtStepHook(last_step=last_step)
    return _StopAtCheckpointStepHook(
        estimator.model_dir, last_step, wait_after_file_check_secs
    )


class _StopAtCheckpointStepHook(tf.train.SessionRunHook):
    def __init__(
        self, model_dir: str, last_step: int, wait_after_file_check_secs: float
    ) -> None:
        if last_step is None:
            raise ValueError("last_step must be specified.")
        if model_dir is None:
            raise ValueError("model_dir must be specified.")
        self._model_dir = model_dir
        self._last_step = last_step
        self._wait_secs = wait_after_file_check_secs

    def begin(self) -> None:
        self._global_step = tf.train.get_global_step()
        if self._global_step is None:
            raise RuntimeError(
                "Global step should be created to use StopAtCheckpointStepHook."
            )

    def before_run(self, run_context: Any) -> Any:
        return tf.train.SessionRunArgs(self._global_step)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        # The value may be from before the step that just ran.
        if run_values.results + 1 < self._last_step:
            return
        if _saved_step(self._model_dir) >= self._last_step:
            run_context.request_stop()
        else:
            # Many workers ask the same file system.
            time.sleep(self._wait_secs)


def _saved_step(model_dir: str) -> int:
    path = tf.train.latest_checkpoint(model_dir)
    if not path:
        return 0
    try:
        return int(tf.train.load_variable(path, tf.GraphKeys.GLOBAL_STEP))
    except (tf.errors.OpError, ValueError):
        # The chief may be deleting this checkpoint at this moment.
        return 0
