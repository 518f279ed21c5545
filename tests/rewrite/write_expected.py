"""Write fixtures/expected anew.

    python tests/rewrite/write_expected.py

Read the difference before you commit it: these files are what users get.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from tfmigrate.project.facts import ProjectFacts
from tfmigrate.project.looking import look_for_files
from tfmigrate.project.workers import Limits
from tfmigrate.report.findings import ProgramOutcome
from tfmigrate.report.model import Report
from tfmigrate.rewrite.graph import ImportGraph
from tfmigrate.rewrite.pipeline import Job
from tfmigrate.rewrite.run import run_job

HERE = Path(__file__).resolve().parent
LEGACY = HERE.parents[1] / "fixtures" / "legacy"
EXPECTED = HERE.parents[1] / "fixtures" / "expected"


def rewritten() -> Report:
    """What becomes of all legacy programs, each folder a project of its own."""
    results = []
    for folder in sorted(path for path in LEGACY.iterdir() if path.is_dir()):
        files = look_for_files([folder], (), Limits())
        results += run_job(files, Job()).results
    return Report(tuple(sorted(results, key=lambda result: str(result.path))))


def native_texts(report: Report) -> dict[str, str]:
    """The files of native programs that change, by their paths below the folder."""
    files = {os.path.abspath(result.path): result for result in report.results}
    graph = ImportGraph(files, ProjectFacts(tuple(r.path for r in report.results)))
    native = {
        key
        for path, program in report.programs
        if program.outcome is ProgramOutcome.NATIVE
        for key in graph.closure(os.path.abspath(path))
    }
    return {
        str(Path(key).relative_to(LEGACY)): result.new.decode("utf-8")
        for key, result in files.items()
        if key in native and result.new is not None and not result.added
    }


def main() -> None:
    """Rewrite every legacy program; those that are native go into fixtures/expected."""
    texts = native_texts(rewritten())  # takes minutes, in which the old ones stand
    shutil.rmtree(EXPECTED, ignore_errors=True)
    for name, text in texts.items():
        path = EXPECTED / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
