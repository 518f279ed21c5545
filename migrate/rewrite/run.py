"""All files of a run, each in a process that can be killed, in a stable order."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..options import Job
from ..project.facts import ProjectFacts
from ..project.garbage import collector_at_rest
from ..project.reading import Asked, asked, note
from ..project.workers import Limits, Overrun, work_through
from ..report.findings import OVER_BUDGET, Outcome, told
from ..report.model import FileResult, FileStatus, Report, merge
from ..rules.registry import plugins
from .counting import counted
from .pipeline import process_file, process_source
from .settle import settle
from .training_file import with_training_files

# A file, and its content where that lies in none.
_Task = tuple[Path, bytes | None]


@dataclass(frozen=True)
class _Start:
    """Makes what a worker process works with; sent to it once."""

    job: Job
    files: tuple[Path, ...]

    def __call__(self) -> Callable[[_Task], tuple[FileResult, Asked]]:
        gc.disable()  # it is a process of its own; `collector_at_rest` looks
        gc.freeze()  # the modules of the tool stay
        facts = ProjectFacts(self.files)

        def work(task: _Task) -> tuple[FileResult, Asked]:
            path, raw = task
            if raw is None:
                return process_file(path, self.job, facts), asked()
            return process_source(path, raw, self.job, facts), asked()

        return work


def run_job(
    files: Sequence[Path],
    job: Job,
    *,
    jobs: int = 1,
    limits: Limits | None = None,
    progress: Callable[[FileResult], None] | None = None,
) -> Report:
    """Process every file. The report does not depend on ``jobs``."""
    plugins()  # here, where a fault of theirs ends the run
    ordered = tuple(files)
    tasks = [(path, None) for path in ordered]
    results: list[FileResult] = []
    for result in _results(tasks, ordered, job, jobs, limits or Limits()):
        results.append(result)
        if progress is not None:
            progress(result)
    with collector_at_rest():
        facts = ProjectFacts(ordered)
        settled = settle(results, facts, job.selection)
        return merge(counted(with_training_files(settled), facts))


def one_source(
    path: Path, raw: bytes, job: Job, limits: Limits | None = None
) -> Report:
    """The report of a program that is at hand as text alone."""
    results = _results([(path, raw)], (), job, 1, limits or Limits())
    facts = ProjectFacts()
    return merge(counted(settle(results, facts, job.selection), facts))


def _results(
    tasks: Sequence[_Task],
    files: tuple[Path, ...],
    job: Job,
    jobs: int,
    limits: Limits,
) -> Iterator[FileResult]:
    # A process costs more to start than a few files to process.
    processes = min(jobs, max(1, len(tasks) // 4))
    start = _Start(job, files)
    for done in work_through(tasks, start, processes=processes, limits=limits):
        if isinstance(done.made, Overrun):
            # What it asked, and might have asked, nobody knows.
            note({("overrun", str(done.task[0])): None})
            yield _ended(done.task[0], done.made, limits)
        else:
            result, more = done.made
            note(more)
            yield result


def _ended(path: Path, overrun: Overrun, limits: Limits) -> FileResult:
    """The result of a file whose process was ended."""
    if overrun.what is None:
        return FileResult(
            path, FileStatus.FAILED, error="the process that worked on this file died"
        )
    if overrun.what == "time":
        reason = f"took too long: more than {limits.seconds:g} s of work (--timeout)"
    else:
        reason = f"took too much memory: more than {limits.memory / 1024**3:g} GB"
    said = "the file stays as it is"
    finding = told(path, OVER_BUDGET, said, Outcome.LEFT, reason=reason)
    return FileResult(path, FileStatus.UNCHANGED, findings=(finding,))
