"""What a file imports, read from its bytes: parsing all files of a project is slow."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from .files import mentions_legacy
from .reading import is_file, read_or_nothing, sources_in

_IMPORTS = re.compile(
    rb"^[ \t]*(?:from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]*"
    rb"(\([^)]*\)|(?:[^#\n]*\\\r?\n)*[^#\n]*)"
    rb"|import[ \t]+((?:[^#\n]*\\\r?\n)*[^#\n]+))",
    re.MULTILINE,
)
_COMMENT = re.compile(rb"#[^\n]*")
# `import_module("models." + name)`: the text that the name begins with.
_BY_TEXT = re.compile(rb"""\b(?:import_module|__import__)\(\s*f?["']([\w.]+)""")
# `import_module(name)`, `import_module("%s.%s" % names)`: any module may be meant.
_BY_ANY_NAME = re.compile(
    rb"""\b(?:import_module|__import__)\(\s*(?!f?["'][\w.]|r?["']\s*\))"""
)
# What a script does at the top; settings of its libraries are made by modules as well.
_STARTED = re.compile(
    rb"^(?:if\b.*\b__name__\b|.*\bapp\.run\("
    rb"|(?!(?:sys|os|tf|tensorflow|np|numpy|logging|warnings)\.)[A-Za-z_][\w.]*\()",
    re.MULTILINE,
)


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


def searched_by_text(
    path: Path, raw: bytes, locate: Callable[[str, Path], Path | None]
) -> set[Path]:
    """Modules imported by a name that is, or begins as, a text of the file."""
    found: set[Path] = set()
    for text in _BY_TEXT.findall(raw):
        name = text.decode("ascii", "replace")
        whole = name.rstrip(".")
        located = locate(whole, path) if whole else None
        if located is None:
            continue
        found.add(located)
        if name != whole and located.name == "__init__.py":
            folder = located.parent
            found |= {folder / one for one in sources_in(folder) if one.endswith(".py")}
    return found


def searched_below(path: Path, raw: bytes, files: Iterable[str]) -> set[Path]:
    """Modules that may be meant where nothing of the name is known.

    Of ``files`` (absolute paths) they lie beside the file or below it, are no programs
    by themselves, and have legacy words. A module that another file imports by its name
    belongs to that one, and is left to it: two programs in one folder must not become
    one.
    """
    if _BY_ANY_NAME.search(raw) is None:
        return set()
    folder = os.path.join(os.path.dirname(os.path.abspath(path)), "")
    near = {
        one: read_or_nothing(one)
        for one in files
        if one.endswith(".py") and one.startswith(folder)
    }
    said = {
        word
        for text in near.values()
        for _, stem, names in import_lines(text)
        for word in (stem.rpartition(".")[2], *names)
    }
    return {
        Path(one)
        for one, text in near.items()
        if Path(one).stem not in {*said, "__init__", "setup", Path(path).stem}
        and mentions_legacy(text)
        and _STARTED.search(text) is None
    }
