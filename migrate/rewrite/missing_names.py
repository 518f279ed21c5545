"""What a program, with all of its files, would ask for in vain."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping

from ..project.selection import is_test
from ..report.model import FileResult, Lack
from .graph import ImportGraph
from .results import raw_of


def lack_of(
    key: str, files: Mapping[str, FileResult], graph: ImportGraph
) -> Lack | None:
    """The first name that the programs of a file would ask for in vain, if any.

    A program runs with all of its files, and any of them may name what is gone. A
    main module that could not run before does not count, nor do tests: what these
    need is told where it stands.
    """
    for program in _programs_of(key, files, graph):
        for one in sorted(program):
            file_facts = files[one].file_facts
            for lack in () if file_facts is None else file_facts.lacks:
                others = (files[other] for other in program - {one})
                if not lack.owners or any(_names(r, lack.owners) for r in others):
                    return lack
    return None


def _programs_of(
    key: str, files: Mapping[str, FileResult], graph: ImportGraph
) -> Iterator[frozenset[str]]:
    """The files of each program that a file is part of."""
    yield _with_found(graph.closure(key), files, graph)
    for entry in graph.entries(key):
        if is_test(files[entry].path.name):
            continue
        program = graph.closure(entry)
        all_facts = [files[one].file_facts for one in program]
        if not any(f is not None and f.gone is not None for f in all_facts):
            yield _with_found(program, files, graph)


def _with_found(
    program: frozenset[str], files: Mapping[str, FileResult], graph: ImportGraph
) -> frozenset[str]:
    """A program with the files that it may import by names it works out.

    These are modules, which do nothing when they are imported.
    """
    folders = set()
    for one in program:
        file_facts = files[one].file_facts
        for begins in () if file_facts is None else file_facts.searches:
            named = begins.strip(".").replace(".", os.sep)
            folders.add((os.path.join(os.path.dirname(one), ""), named))
    if not folders:
        return program
    below = (
        one
        for one in files
        if any(_is_below(one, folder, named) for folder, named in folders)
    )
    return program | {one for one in below if not graph.starts(one)}


def _is_below(path: str, folder: str, named: str) -> bool:
    """Whether a file may be meant by a name that is, or begins with, a module's."""
    if named:
        whole = f"{os.sep}{named}"
        return f"{whole}{os.sep}" in path or path.endswith(f"{whole}.py")
    return path.startswith(folder)


def _names(result: FileResult, names: frozenset[str]) -> bool:
    """Whether a file has one of the names in it."""
    words = "|".join(map(re.escape, sorted(names)))
    return re.search(rf"\b(?:{words})\b".encode(), raw_of(result) or b"") is not None
