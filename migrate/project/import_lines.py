"""What a file imports, read from its bytes: parsing all files of a project is slow."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from .reading import is_file

_IMPORTS = re.compile(
    rb"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]*"
    rb"(\([^)]*\)|(?:[^#\n]*\\\r?\n)*[^#\n]*)"
    rb"|import[ \t]+((?:[^#\n]*\\\r?\n)*[^#\n]+))",
    re.MULTILINE,
)
_COMMENT = re.compile(rb"#[^\n]*")


def import_lines(raw: bytes) -> Iterator[tuple[int, str, list[str]]]:
    """For each import: its leading dots, the module, and the names taken from it."""
    for base, names, plain in _IMPORTS.findall(raw):
        if plain:
            for module in _without_aliases(plain, b" \\\t\r\n"):
                yield 0, module, []
            continue
        stem = base.decode("ascii", "replace")
        dots = len(stem) - len(stem.lstrip("."))
        taken = _without_aliases(_COMMENT.sub(b"", names), b" ()\\\t\r\n")
        yield dots, stem[dots:], taken


def _without_aliases(names: bytes, around: bytes) -> list[str]:
    return [
        one.split(b" as ")[0].strip(around).decode("ascii", "replace")
        for one in names.split(b",")
    ]


def relative_files(path: Path, dots: int, stem: str, names: Iterable[str]) -> set[Path]:
    """The files of ``from ..stem import names``, also where no package says so."""
    folder = os.path.dirname(os.path.abspath(path))
    for _ in range(dots - 1):
        folder = os.path.dirname(folder)
    base = os.path.join(folder, *stem.split(".")) if stem else folder
    wanted = [base] if stem else []
    wanted += [os.path.join(base, name) for name in names if name.isidentifier()]
    if not stem:
        wanted.append(base)
    places = (
        place
        for one in wanted
        for place in (f"{one}.py", os.path.join(one, "__init__.py"))
    )
    return {Path(place) for place in places if is_file(place)}
