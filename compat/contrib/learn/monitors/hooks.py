"""Monitors called from a hook."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import tensorflow.compat.v1 as tf

from .base import BaseMonitor, name_of

__all__ = ["RunHookAdapterForMonitors", "replace_monitors_with_hooks"]


class RunHookAdapterForMonitors(tf.train.SessionRunHook):
    """Calls monitors from a hook."""

    def __init__(self, monitors: Iterable[BaseMonitor]) -> None:
        self._monitors = list(monitors)

    def begin(self) -> None:
        """Training begins: an estimator does not say how far it goes."""
        self._last_step: int | None = None
        self._step = tf.train.get_or_create_global_step()
        for monitor in self._monitors:
            monitor.begin(max_steps=None)

    def before_run(self, run_context: Any) -> Any:
        """Asks for what the monitors want."""
        if self._last_step is None:
            self._last_step = int(run_context.session.run(self._step)) + 1
        graph = run_context.session.graph
        fetches = {
            name_of(wanted): graph.as_graph_element(wanted)
            for monitor in self._monitors
            for wanted in monitor.step_begin(self._last_step) or []
        }
        return tf.train.SessionRunArgs([self._step, fetches])

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Hands out what was asked for."""
        step, outputs = run_values.results
        assert self._last_step is not None
        stop = False
        for monitor in self._monitors:
            # Each is given what any of them has asked for.
            stop = bool(monitor.step_end(self._last_step, outputs)) or stop
        if stop:
            run_context.request_stop()
        for monitor in self._monitors:
            monitor.post_step(self._last_step, run_context.session)
        self._last_step = int(step) + 1

    def end(self, session: Any) -> None:
        """Training has ended."""
        self._last_step = None
        for monitor in self._monitors:
            monitor.end(session=session)


def replace_monitors_with_hooks(monitors_or_hooks: Any, estimator: Any) -> list[Any]:
    """Hooks as they are, and one hook for all monitors."""
    given = list(monitors_or_hooks or [])
    hooks = [hook for hook in given if isinstance(hook, tf.train.SessionRunHook)]
    monitors = [m for m in given if not isinstance(m, tf.train.SessionRunHook)]
    wanted = []
    for monitor in monitors:
        if estimator.config.is_chief or monitor.run_on_all_workers:
            monitor.set_estimator(estimator)
            wanted.append(monitor)
    if wanted:
        hooks.append(RunHookAdapterForMonitors(wanted))
    return hooks
