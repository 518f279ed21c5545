"""Rewriting in the test's own process, where what a test has replaced is seen.

`run_job` works in a process of its own, which is started anew, without what a test has
replaced, once TensorFlow's threads run in this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tfmigrate.around.added import with_added
from tfmigrate.project.facts import ProjectFacts
from tfmigrate.report.model import Report, merge
from tfmigrate.rewriting.floor import settle
from tfmigrate.rewriting.pipeline import Job, process_file


def run_here(files: Sequence[Path], job: Job) -> Report:
    """As `run_job`, without its limits."""
    facts = ProjectFacts(tuple(files))
    results = [process_file(path, job, facts) for path in files]
    settled = settle(results, ProjectFacts(tuple(files)), job.selection)
    return merge(with_added(settled, job.options, facts))
