"""The files that a program consists of, as far as they can be found."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from .facts import ProjectFacts

# A program of more files is looked at as far as that.
_MOST = 60


def files_of_program(
    path: Path, facts: ProjectFacts, read: Callable[[Path], bytes]
) -> Iterator[tuple[Path, bytes]]:
    """The file that a program begins in and those that it imports, nearest first.

    A file that ``read`` cannot read (OSError) is left out.
    """
    waiting, seen = [path], {os.path.abspath(path)}
    for _ in range(_MOST):
        if not waiting:
            return
        file = waiting.pop(0)
        try:
            raw = read(file)
        except OSError:
            continue
        yield file, raw
        for near in sorted(facts.imported_files(file, raw)):
            key = os.path.abspath(near)
            if key not in seen:
                seen.add(key)
                waiting.append(near)
