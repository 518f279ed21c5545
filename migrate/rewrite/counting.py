"""Programs, each told at the file in which it begins."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace

from ..project.facts import ProjectFacts
from ..project.selection import is_test
from ..report.model import FileResult, ProgramResult
from .graph import ImportGraph


def counted(results: Sequence[FileResult], facts: ProjectFacts) -> list[FileResult]:
    """The results with each program noted once, at the file in which it begins.

    A program is a main module or notebook with an Estimator in its files; where
    nothing given here runs an Estimator's file, that file counts. Tests count only
    if nothing else runs it.
    """
    files = {os.path.abspath(result.path): result for result in results}
    graph = ImportGraph(files, facts)
    programs: dict[str, ProgramResult] = {}
    for key in sorted(files):
        told = _worst(files[key])
        if told is None:
            continue
        entries = graph.entries(key)
        real = [one for one in entries if not is_test(files[one].path.name)]
        for entry in real or [key]:
            known = programs.get(entry)
            if known is None or known.outcome.rank < told.outcome.rank:
                programs[entry] = told
    reviews = {
        entry: sum(
            files[one].new_lines for one in graph.closure(entry) if not files[one].added
        )
        for entry in programs
    }
    return [
        replace(result, program=replace(programs[key], review=reviews[key]))
        if key in programs
        else result
        for key, result in files.items()
    ]


def _worst(result: FileResult) -> ProgramResult | None:
    """What is told of the Estimators of a file that gets least far."""
    found = [(one.program, one) for one in result.findings if one.program is not None]
    if not found:
        return None
    outcome, told = max(found, key=lambda pair: pair[0].rank)
    why = told.reason, told.advice
    return ProgramResult(outcome, told.path, told.line, told.cell, *why)
