"""Says which task of a cluster is lost, instead of waiting for it in silence.

A session of TensorFlow waits for a dead task without end and without a word of ours:
a parameter server may come back, and then training goes on from the last checkpoint.
Workers that take each step together cannot take one back in.
"""

from __future__ import annotations

import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import tensorflow.compat.v1 as tf

__all__ = ["WatchTasksHook", "tasks_needed"]

# How long the others may wait for a worker that was out of reach; it may be back by
# then, but it is another process and has no part in what they do.
SECONDS_WITHOUT = 20.0
# After the last step a worker that has ended may be gone while the chief still saves,
# and while hooks of the program run it is not known yet whether that was the last.
SECONDS_AT_END = 300.0
SECONDS_BETWEEN_LOOKS = 2.0
# In large clusters everybody looks less often.
_LOOKS_PER_SECOND = 20.0
_SECONDS_BETWEEN_LINES = 30.0


class WatchTasksHook(tf.train.SessionRunHook):
    """Looks for the tasks that training cannot go on without, until it ends.

    ``limit`` is how many seconds one of them may be away; None is for workers in
    step, who cannot take one back. Then the process ends with status 1: the call that
    waits cannot be interrupted.
    """

    def __init__(
        self,
        tasks: Mapping[str, str],
        limit: float | None,
        leave: Callable[[int], Any] = os._exit,
    ) -> None:
        self._tasks, self._limit, self._leave = dict(tasks), limit, leave
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        # A step that fails is begun again and again, each time without a part of them.
        self._done = 0
        self._all_needed = True
        self.before_saving = _BeforeSavingHook(self)

    def begin(self) -> None:
        """Starts to look."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._look, daemon=True)
            self._thread.start()

    def before_run(self, run_context: Any) -> None:
        """A step begins."""
        del run_context
        self._all_needed = True

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """A step has ended; hooks of the program may find that it was the last."""
        del run_context, run_values
        self._done += 1
        self._all_needed = False

    def hooks_have_run(self, stops: bool) -> None:
        """Those that may end training have been asked; now it is saved, by all."""
        self._all_needed = not stops

    def end(self, session: Any) -> None:
        """Ends: others may be done, and gone, before this one."""
        del session
        self.stop()

    def stop(self) -> None:
        """Ends, however training did."""
        self._over.set()

    def _look(self) -> None:
        seen: set[str] = set()
        # Since when, and after how many steps.
        lost: dict[str, tuple[float, int]] = {}
        told: dict[str, float] = {}
        pause = max(SECONDS_BETWEEN_LOOKS, len(self._tasks) / _LOOKS_PER_SECOND)
        while not self._over.is_set():
            for task, address in self._tasks.items():
                there = answers(address)
                if there:
                    seen.add(task)
                elif task in seen:
                    lost.setdefault(task, (time.monotonic(), self._done))
                if task in lost and self._is_back(there, lost[task][1]):
                    del lost[task]
                    if told.pop(task, None) is not None:
                        tf.logging.warning("%s is there again.", task)
            for task, (since, _) in lost.items():
                if not self._over.is_set():
                    self._without(task, time.monotonic() - since, told)
            self._over.wait(pause)

    def _is_back(self, there: bool, step: int) -> bool:
        return there if self._limit is not None else self._done != step

    def _without(self, task: str, seconds: float, told: dict[str, float]) -> None:
        limit = self._limit
        if limit is None:
            limit = SECONDS_WITHOUT if self._all_needed else SECONDS_AT_END
        lost = f"Lost {task} ({self._tasks[task]}) {seconds:.0f} s ago."
        if seconds >= limit:
            all_of_them = "workers" if self._limit is None else "tasks"
            advice = "they go on from the latest checkpoint."
            print(f"{lost} Start all {all_of_them} again: {advice}", file=sys.stderr)
            sys.stderr.flush()
            self._leave(1)
        now = time.monotonic()
        if now - told.get(task, float("-inf")) >= _SECONDS_BETWEEN_LINES:
            told[task] = now
            tf.logging.warning("%s Waiting for it, up to %.0f s.", lost, limit)


def answers(address: str) -> bool:
    """Whether somebody listens there."""
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=3):
            return True
    except OSError:
        return False


class _BeforeSavingHook(tf.train.SessionRunHook):
    """Stands behind the program's hooks and before what saves."""

    def __init__(self, watch: WatchTasksHook) -> None:
        self._watch = watch

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Others go on to the next step unless this was the last."""
        del run_values
        self._watch.hooks_have_run(run_context.stop_requested)


def tasks_needed(config: Any, *, together: bool) -> WatchTasksHook | None:
    """The hook for this task's training; None where nobody else is needed."""
    members = config.cluster_spec.as_dict() if config.cluster_spec else {}
    jobs = ("chief", "worker") if together else ("ps",)
    own = f"{config.task_type} {config.task_id}"
    tasks = {
        f"{job} {index}": address
        for job in jobs
        for index, address in enumerate(members.get(job, ()))
        if f"{job} {index}" != own
    }
    if not tasks:
        return None
    limit = None if together else float(config.session_creation_timeout_secs)
    return WatchTasksHook(tasks, limit)
