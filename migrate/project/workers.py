"""Processes that work on files one by one and can be killed while they do.

LibCST's parser is native code: no signal, timer or thread of its own process can
interrupt it, and memory that a runaway analysis takes is never given back. So each
file is worked on in a process of its own kind. One that goes over a limit is killed,
its file accounted for, and another one goes on with the files it had not begun.

Time is the processor's, so that a busy machine, or more processes than it has cores,
give the same report: the system itself ends a process when its time is up, in native
code too, and also when the command that started it is gone. The parent looks at memory,
and at the clock on the wall in case a process waits for something for ever.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any, Generic, TypeVar

Task = TypeVar("Task")
Made = TypeVar("Made")

# A runaway's memory is looked at this often; nothing else waits for it.
_LOOK = 0.25
# A process may wait, for a processor or a disk, so many times as long as it may work.
_WAITS = 10
_TIMER = hasattr(signal, "setitimer")
# What a forkserver imports once, so that its workers need not.
_PRELOADED = ("tfmigrate.rewrite.native.program", "tfmigrate.rewrite.pipeline")


@dataclass(frozen=True)
class Limits:
    """What one file may take: seconds, and bytes of memory."""

    seconds: float = 120.0
    memory: int = 4 * 1024**3


@dataclass(frozen=True)
class Overrun:
    """A task that was ended: over a limit (``what``), or by a crash (None)."""

    what: str | None


@dataclass(frozen=True)
class Outcome(Generic[Task, Made]):
    """A task and what came of it."""

    task: Task
    made: Made | Overrun


def work_through(
    tasks: Sequence[Task],
    start: Callable[[], Callable[[Task], Made]],
    *,
    processes: int,
    limits: Limits,
) -> Iterator[Outcome[Task, Made]]:
    """Every task's outcome, in the order in which they are done.

    ``start`` is called once in each process and gives what works on its tasks; it
    must be picklable where processes cannot be forked.
    """
    context = _context()
    # Each process works on all of a program of which it has a file.
    chunk = max(1, min(64, len(tasks) // (processes * 8)))
    waiting: deque[Task] = deque(tasks)
    workers: list[_Worker[Task, Made]] = []
    try:
        while waiting or workers:
            while waiting and len(workers) < processes:
                workers.append(_Worker(context, start, limits))
                workers[-1].give(_taken(waiting, chunk))
            ready = wait([w.pipe for w in workers], timeout=_timeout(workers))
            for worker in list(workers):
                if worker.pipe in ready:
                    yield from worker.received()
                yield from worker.checked()
                if worker.dead:
                    waiting.extendleft(reversed(worker.tasks))
                    workers.remove(worker)
                elif not worker.tasks:
                    if waiting:
                        worker.give(_taken(waiting, chunk))
                    else:
                        worker.end()
                        workers.remove(worker)
    finally:
        for worker in workers:
            worker.kill()


def _taken(waiting: deque[Task], number: int) -> list[Task]:
    return [waiting.popleft() for _ in range(min(number, len(waiting)))]


def _timeout(workers: Sequence[_Worker[Any, Any]]) -> float:
    return max(0.0, min(_LOOK, *(w.deadline - time.monotonic() for w in workers)))


class _Worker(Generic[Task, Made]):
    """One process, the tasks it was given, and the clock of the first of them."""

    def __init__(
        self, context: Any, start: Callable[[], Callable[[Task], Made]], limits: Limits
    ) -> None:
        self.limits = limits
        self.tasks: deque[Task] = deque()
        self.deadline = 0.0
        self.dead = False
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(
            target=_main, args=(theirs, self.pipe, start, limits.seconds), daemon=True
        )
        self.process.start()
        theirs.close()

    def give(self, tasks: Sequence[Task]) -> None:
        """Send tasks; the clock of the first runs from now on."""
        self.tasks.extend(tasks)
        # A process that died at once is noticed where results are awaited.
        with contextlib.suppress(OSError):
            self.pipe.send(tasks)
        self._begun()

    def received(self) -> Iterator[Outcome[Task, Made]]:
        """The outcome that lies in the pipe, or of the task that killed the process."""
        try:
            made = self.pipe.recv()
        except (EOFError, OSError):
            self.process.join()
            timed_out = _TIMER and self.process.exitcode == -signal.SIGPROF
            yield self._lost("time" if timed_out else None)
            return
        self._begun()
        yield Outcome(self.tasks.popleft(), made)

    def checked(self) -> Iterator[Outcome[Task, Made]]:
        """The outcome of a task that is over a limit by now; its process ends."""
        if self.dead or not self.tasks:
            return
        if time.monotonic() >= self.deadline:
            if self.pipe.poll():  # done just now
                return
            yield self._lost("time")
        elif _memory(self.process.pid) > self.limits.memory:
            yield self._lost("memory")

    def end(self) -> None:
        """Let a process go that has nothing left to do."""
        self.pipe.close()
        self.process.join(1)
        self.kill()

    def kill(self) -> None:
        """End the process, whatever it is doing."""
        self.dead = True
        self.process.kill()
        self.process.join()
        self.pipe.close()

    def _begun(self) -> None:
        factor = _WAITS if _TIMER else 1
        self.deadline = time.monotonic() + factor * self.limits.seconds

    def _lost(self, what: str | None) -> Outcome[Task, Made]:
        self.kill()
        return Outcome(self.tasks.popleft(), Overrun(what))


def _main(
    pipe: Connection,
    parents: Connection,
    start: Callable[[], Callable[[Any], Any]],
    seconds: float,
) -> None:
    """What a worker process does until its pipe closes."""
    # Forked, this process holds the other end too and would never see it close.
    parents.close()
    # A Ctrl-C is the parent's to answer; it ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    work: Callable[[Any], Any] | None = None
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            for task in pipe.recv():
                work = work or start()
                _end_after(seconds)
                made = work(task)
                _end_after(0)
                pipe.send(made)
    sys.stdout.flush()
    sys.stderr.flush()


def _end_after(seconds: float) -> None:
    """Let the system end this process after so much work; 0: never."""
    if _TIMER:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _context() -> Any:
    """How processes are made: forked where that is sure to be safe.

    A fork costs a few milliseconds, any other way the imports once more. Only a
    process without other threads, native ones included, can be forked safely, and
    only Linux tells how many there are.
    """
    methods = multiprocessing.get_all_start_methods()
    try:
        alone = len(os.listdir("/proc/self/task")) == 1
    except OSError:
        alone = False
    if alone and "fork" in methods:
        return multiprocessing.get_context("fork")
    if "forkserver" in methods:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(list(_PRELOADED))
        return context
    return multiprocessing.get_context("spawn")


def _memory(pid: int | None) -> int:
    """Bytes that a process has in memory; 0 where the system does not tell."""
    try:
        with open(f"/proc/{pid}/statm", "rb") as stream:
            pages = int(stream.read().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
