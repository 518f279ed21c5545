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

# How long a worker may be out of reach for those who take each step with it.
SECONDS_WITHOUT_WORKER = 30.0
_SECONDS_BETWEEN_LOOKS = 5.0
# In large clusters everybody looks less often.
_LOOKS_PER_SECOND = 20.0
_SECONDS_BETWEEN_LINES = 30.0


class WatchTasksHook(tf.train.SessionRunHook):
    """Looks for the tasks that training cannot go on without, until it ends.

    After ``limit`` seconds without one of them the process ends with status 1: the
    call that waits cannot be interrupted.
    """

    def __init__(
        self,
        tasks: Mapping[str, str],
        limit: float,
        advice: str,
        leave: Callable[[int], Any] = os._exit,
    ) -> None:
        self._tasks = dict(tasks)
        self._limit, self._advice, self._leave = limit, advice, leave
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        """Starts to look."""
        if self._tasks and self._thread is None:
            self._thread = threading.Thread(target=self._look, daemon=True)
            self._thread.start()

    def end(self, session: Any) -> None:
        """Ends: others may be done, and gone, before this one."""
        del session
        self.stop()

    def stop(self) -> None:
        """Ends, however training did."""
        self._over.set()

    def _look(self) -> None:
        seen: dict[str, float] = {}
        told: dict[str, float] = {}
        pause = max(_SECONDS_BETWEEN_LOOKS, len(self._tasks) / _LOOKS_PER_SECOND)
        while not self._over.wait(pause):
            for task, address in self._tasks.items():
                if _answers(address):
                    if task in told:
                        tf.logging.warning("%s is there again.", task)
                        del told[task]
                    seen[task] = time.monotonic()
                elif task in seen and not self._over.is_set():
                    self._without(task, time.monotonic() - seen[task], told)

    def _without(self, task: str, seconds: float, told: dict[str, float]) -> None:
        now = time.monotonic()
        lost = f"Lost {task} ({self._tasks[task]}), out of reach for {seconds:.0f} s."
        if seconds >= self._limit:
            print(f"{lost} {self._advice}", file=sys.stderr, flush=True)
            self._leave(1)
        if now - told.get(task, float("-inf")) >= _SECONDS_BETWEEN_LINES:
            told[task] = now
            tf.logging.warning(
                "%s Waiting for it, up to %.0f s.", lost, self._limit - seconds
            )


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
    again = "they go on from the latest checkpoint."
    if together:
        advice = f"Start all workers again: {again}"
        return WatchTasksHook(tasks, SECONDS_WITHOUT_WORKER, advice)
    limit = float(config.session_creation_timeout_secs)
    return WatchTasksHook(tasks, limit, f"Start all tasks again: {again}")


def _answers(address: str) -> bool:
    host, _, port = address.rpartition(":")
    try:
        with socket.create_connection((host, int(port)), timeout=3):
            return True
    except OSError:
        return False
