"""A hook that measures steps the way published throughput figures do."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import tensorflow as tf
import tensorflow.compat.v1 as tf1

from .report import TimingReport, write_csv

__all__ = ["TimingHook"]


class TimingHook(tf1.train.SessionRunHook):
    """Measures the time of every step and the throughput that follows from it.

    The first ``warmup_steps`` steps of each run are kept apart: they hold
    graph set-up, memory allocation and autotuning. ``batch_size`` is what the
    input function yields to one replica; ``replicas`` is a number or the
    strategy. Without ``replicas`` the strategy that is current when training
    begins is asked. ``output`` names a ``.json`` or ``.csv`` file that is
    written at the end.

    The same object can go through several ``train`` calls; their steps add up.
    """

    # A HookDriver waits for the device before it calls after_run.
    needs_finished_step = True

    def __init__(
        self,
        *,
        batch_size: int | None = None,
        replicas: int | tf.distribute.Strategy | None = None,
        warmup_steps: int = 5,
        name: str | None = None,
        output: str | os.PathLike[str] | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        if batch_size is not None and batch_size <= 0:
            raise ValueError(f"batch_size must be positive, given: {batch_size}")
        if warmup_steps < 0:
            raise ValueError(f"warmup_steps must not be negative: {warmup_steps}")
        if output is not None and not os.fspath(output).endswith((".json", ".csv")):
            raise ValueError(
                f"output must end in .json or .csv, given: {os.fspath(output)}"
            )
        self._batch_size = batch_size
        self._replicas = None if replicas is None else _number_of_replicas(replicas)
        self._warmup_steps = warmup_steps
        self._name = name
        self._output = output
        self._clock = clock
        self._warmup_seconds: list[float] = []
        self._step_seconds: list[float] = []
        self._wall_seconds = 0.0
        self._steps_of_run = 0
        self._run_started: float | None = None
        self._step_started: float | None = None

    def begin(self) -> None:
        """Starts a run: the warm-up begins anew."""
        if self._replicas is None:
            self._replicas = _number_of_replicas(tf.distribute.get_strategy())
        self._steps_of_run = 0
        self._run_started = None
        self._step_started = None

    def before_run(self, run_context: Any) -> None:
        """Starts the clock of a step."""
        self._step_started = self._clock()
        if self._steps_of_run == self._warmup_steps:
            self._run_started = self._step_started

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Stops it."""
        now = self._clock()
        if self._step_started is None:
            raise RuntimeError("TimingHook.after_run was called without before_run.")
        seconds = now - self._step_started
        self._step_started = None
        if self._run_started is None:
            self._warmup_seconds.append(seconds)
        else:
            self._step_seconds.append(seconds)
            self._last_ended = now
        self._steps_of_run += 1

    def end(self, session: Any) -> None:
        """Ends a run and writes ``output``."""
        self._close_run()
        if self._output is not None:
            if os.fspath(self._output).endswith(".csv"):
                write_csv([self.report()], self._output)
            else:
                self.report().write_json(self._output)

    def report(self) -> TimingReport:
        """Everything measured so far."""
        wall = self._wall_seconds
        if self._run_started is not None and self._steps_of_run > self._warmup_steps:
            wall += self._last_ended - self._run_started
        return TimingReport(
            step_seconds=tuple(self._step_seconds),
            wall_seconds=wall,
            warmup_seconds=tuple(self._warmup_seconds),
            batch_size=self._batch_size,
            replicas=self._replicas or 1,
            name=self._name,
        )

    @property
    def times(self) -> list[float]:
        """Seconds of each measured step."""
        return list(self._step_seconds)

    def _close_run(self) -> None:
        if self._run_started is not None and self._steps_of_run > self._warmup_steps:
            self._wall_seconds += self._last_ended - self._run_started
        self._run_started = None


def _number_of_replicas(value: int | tf.distribute.Strategy) -> int:
    if isinstance(value, int):
        if value <= 0:
            raise ValueError(f"replicas must be positive, given: {value}")
        return value
    return int(value.num_replicas_in_sync)
