"""All files of a run, in one process or several, in a stable order."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from ..report.model import FileResult, FileStatus, Report, merge
from .facts import ProjectFacts
from .floor import settle
from .pipeline import Job, process_file, process_source

__all__ = ["one_source", "run_job"]

# The state of a worker process, set once when it starts.
_worker: tuple[Job, ProjectFacts] | None = None


def _start(job: Job, files: tuple[Path, ...]) -> None:
    global _worker
    _worker = job, ProjectFacts(files)


def _work(path: Path) -> FileResult:
    assert _worker is not None
    job, facts = _worker
    return process_file(path, job, facts)


def run_job(
    files: Sequence[Path],
    job: Job,
    *,
    jobs: int = 1,
    progress: Callable[[FileResult], None] | None = None,
) -> Report:
    """Process every file. The report does not depend on ``jobs``."""
    ordered = tuple(files)
    results: list[FileResult] = []
    for result in _results(ordered, job, jobs):
        results.append(result)
        if progress is not None:
            progress(result)
    return merge(settle(results, ProjectFacts(ordered), job.selection))


def one_source(path: Path, raw: bytes, job: Job) -> Report:
    """The report of a program that is at hand as text alone."""
    facts = ProjectFacts()
    return merge(settle([process_source(path, raw, job, facts)], facts, job.selection))


def _results(files: tuple[Path, ...], job: Job, jobs: int) -> Iterator[FileResult]:
    # A process costs more to start than a few files to process.
    jobs = min(jobs, max(1, len(files) // 4))
    if jobs <= 1:
        _start(job, files)
        yield from map(_work, files)
        return
    methods = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context(
        "forkserver" if "forkserver" in methods else "spawn"
    )
    done: set[Path] = set()
    try:
        with ProcessPoolExecutor(
            jobs, mp_context=context, initializer=_start, initargs=(job, files)
        ) as pool:
            chunk = max(1, min(16, len(files) // (jobs * 8)))
            for result in pool.map(_work, files, chunksize=chunk):
                done.add(result.path)
                yield result
    except BrokenProcessPool:
        # A worker died (out of memory, a crash in native code). The files it
        # had are not known, so the rest is tried one process each.
        for path in files:
            if path not in done:
                yield _alone(path, job, files, context)


def _alone(
    path: Path,
    job: Job,
    files: tuple[Path, ...],
    context: multiprocessing.context.BaseContext,
) -> FileResult:
    try:
        with ProcessPoolExecutor(
            1, mp_context=context, initializer=_start, initargs=(job, files)
        ) as pool:
            return pool.submit(_work, path).result()
    except BrokenProcessPool:
        return FileResult(
            path, FileStatus.FAILED, error="the process that worked on this file died"
        )
