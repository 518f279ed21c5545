"""Runs the tasks of a cluster: their lines, their ends, and no process left behind.

Each task leads a process group of its own. Whatever ends the run, whole groups are
ended, so that what a task has started ends with it. A leader that has ended is not
waited for until its group is gone: as long as it is a zombie, the group's number
cannot become another's.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from .cluster import Task

_LONGEST_LINE = 16_384
_KILLED_AFTER = 10.0  # seconds between asking a process to end and ending it
_PR_SET_PDEATHSIG = 1
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True)
class Settings:
    """How tasks are run: what to do with their ends, and for how long at most."""

    logs: Path
    restarts: int = 0
    # What an evaluator may still do when training has ended.
    evaluator_seconds: float = 120.0
    limit: float | None = None


@dataclass(frozen=True)
class Ended:
    """How the job ended: 0, or the task that failed and why."""

    status: int
    reason: str | None = None
    log: Path | None = None


@dataclass(eq=False)
class _Process:
    """A task's process, and what it has printed of its present line."""

    task: Task
    popen: subprocess.Popen[bytes]
    log: BinaryIO
    started: float
    line: bytes = b""
    open: bool = True


@dataclass(eq=False)
class Job:
    """All tasks of a cluster, from the first start to the last end."""

    tasks: Sequence[Task]
    command: Sequence[str]
    environment: Callable[[Task], Mapping[str, str]]
    settings: Settings
    say: Callable[[str], None]
    write: Callable[[bytes], None]
    _running: list[_Process] = field(default_factory=list)
    _restarts: dict[str, int] = field(default_factory=dict)
    _selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)

    def run(self) -> Ended:
        """Start all, wait for the end of training, end what is left."""
        began = time.monotonic()
        try:
            with _ends_on_signals():
                for task in self.tasks:
                    self._start(task)
                return self._watch(began)
        except KeyboardInterrupt:
            return Ended(130, "interrupted")
        finally:
            self._end_all()

    def log_of(self, task: Task) -> Path:
        """The file that has all of a task's lines."""
        return self.settings.logs / f"{task.role}-{task.index}.log"

    # -- starting ----------------------------------------------------------------

    def _start(self, task: Task) -> None:
        log = self.log_of(task).open("ab")
        # A signal between the start and the note of it would leave a process behind.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
        try:
            popen = subprocess.Popen(
                list(self.command),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=dict(self.environment(task)),
                start_new_session=True,
                preexec_fn=_begin,
            )
            process = _Process(task, popen, log, time.monotonic())
            self._running.append(process)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        assert popen.stdout is not None
        os.set_blocking(popen.stdout.fileno(), False)
        self._selector.register(popen.stdout, selectors.EVENT_READ, process)
        self.say(f"{task.name} started, process {popen.pid}")

    # -- watching ----------------------------------------------------------------

    def _watch(self, began: float) -> Ended:
        done_at: float | None = None
        while True:
            for key, _ in self._selector.select(timeout=0.1):
                self._read(key.data)
            failed = self._reap()
            if failed is not None:
                return failed
            now = time.monotonic()
            limit = self.settings.limit
            if limit is not None and now - began > limit:
                names = ", ".join(p.task.name for p in self._running)
                return Ended(1, f"not done after {limit:g} s: {names} still running")
            if any(p.task.trains for p in self._running):
                continue
            # Servers have no end of their own; an evaluator has one last checkpoint.
            done_at = done_at or now
            watching = any(p.task.role == "evaluator" for p in self._running)
            if not watching or now - done_at > self.settings.evaluator_seconds:
                return Ended(0)

    def _read(self, process: _Process) -> None:
        """Pass on what a task has printed, whole lines with its name in front."""
        assert process.popen.stdout is not None
        try:
            part = os.read(process.popen.stdout.fileno(), 65_536)
        except BlockingIOError:
            return
        if not part:
            self._close(process)
            return
        process.log.write(part)
        process.log.flush()
        lines = (process.line + part).replace(b"\r\n", b"\n").split(b"\n")
        process.line = lines.pop()
        if len(process.line) > _LONGEST_LINE:
            lines.append(process.line)
            process.line = b""
        prefix = f"[{process.task.name}] ".encode()
        for line in lines:
            # Of a progress bar only what it came to.
            self.write(prefix + line.rpartition(b"\r")[2] + b"\n")

    def _close(self, process: _Process) -> None:
        if process.open:
            process.open = False
            assert process.popen.stdout is not None
            self._selector.unregister(process.popen.stdout)
            process.popen.stdout.close()
            if process.line:
                self.write(f"[{process.task.name}] ".encode() + process.line + b"\n")
            process.log.close()

    def _reap(self) -> Ended | None:
        """Take note of tasks that have ended; a failure that ends the job, or None."""
        for process in list(self._running):
            if not _has_ended(process.popen):
                continue
            self._end(process)
            status = process.popen.returncode
            seconds = time.monotonic() - process.started
            name = process.task.name
            if status == 0:
                self.say(f"{name} ended after {seconds:.0f} s")
                continue
            how = _told(status)
            used = self._restarts.get(name, 0)
            if used < self.settings.restarts:
                self._restarts[name] = used + 1
                self.say(f"{name} {how}; restart {used + 1}")
                self._start(process.task)
                continue
            return Ended(1, f"{name} {how}", self.log_of(process.task))
        return None

    # -- ending ------------------------------------------------------------------

    def _end(self, process: _Process) -> None:
        """End a group whose leader has ended, and take its last lines."""
        _signal_group(process.popen, signal.SIGKILL)
        process.popen.wait()
        while process.open and self._has_more(process):
            self._read(process)
        self._close(process)
        self._running.remove(process)

    def _has_more(self, process: _Process) -> bool:
        keys = self._selector.select(timeout=0)
        return any(key.data is process for key, _ in keys)

    def _end_all(self) -> None:
        """End every process; ask first."""
        with _undisturbed():
            for process in self._running:
                _signal_group(process.popen, signal.SIGTERM)
            deadline = time.monotonic() + _KILLED_AFTER
            while time.monotonic() < deadline and any(
                not _has_ended(process.popen) for process in self._running
            ):
                for key, _ in self._selector.select(timeout=0.05):
                    self._read(key.data)
            for process in list(self._running):
                self._end(process)


def _told(status: int) -> str:
    if status < 0:
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(-status).name}"
    return f"failed with status {status}"


def _has_ended(popen: subprocess.Popen[bytes]) -> bool:
    """Whether a process has ended; it stays a zombie, so that its number is kept."""
    if popen.returncode is not None:
        return True
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, popen.pid, flags) is not None


def _signal_group(popen: subprocess.Popen[bytes], number: int) -> None:
    if popen.returncode is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(popen.pid, number)


def _begin() -> None:
    """In a task's process, before its program."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _ENDING)
    if sys.platform == "linux":
        # Should this launcher be killed, no one else would end its tasks.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


@contextlib.contextmanager
def _ends_on_signals() -> Iterator[None]:
    """Asked to end by whatever signal: as if by Ctrl-C."""

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """A second Ctrl-C must not leave half of the processes behind."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
