"""Installed packages that a program calls: whether today's TensorFlow is theirs."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from ..project.facts import ParsedModule, ProjectFacts
from ..project.import_lines import import_lines, relative_files
from ..project.lacks import lacks_of
from ..project.reading import read_or_nothing

# TensorFlow's own, and what knows each of its versions or none.
KNOWN = sys.stdlib_module_names | {
    *("tensorflow", "tensorflow_core", "tensorflow_estimator", "tensorflow_hub"),
    *("tf_keras", "keras", "numpy"),
}
_MOST_FILES = 40


def lack_of_packages(files: Iterable[ParsedModule], facts: ProjectFacts) -> str | None:
    """What a package that native files import would not find, if that is installed.

    A name in one of its functions counts where the program's text has the name of that,
    or of another one of its file that calls it.
    """
    texts = [(one.path, one.source.text.encode("utf-8", "replace")) for one in files]
    words = {word.decode() for _, raw in texts for word in re.findall(rb"\w+", raw)}
    pending = {
        found
        for path, raw in texts
        for found in _imported(raw)
        if facts.locate(found[0], path) is None
    }
    seen: set[Path] = set()
    while pending and len(seen) < _MOST_FILES:
        package, path = min(pending)
        pending.discard((package, path))
        seen.add(path)
        key = ("imports of", package, path)
        near, is_of_tensorflow = facts.once(key, partial(_read, package, path))
        pending |= {(package, one) for one in near if one not in seen}
        if not is_of_tensorflow:
            continue
        parsed = facts.parse(path, read_or_nothing(path))
        for _, lack in lacks_of(parsed.resolver) if parsed is not None else ():
            if not lack.owners or lack.owners & words:
                where = f"{path.name} of the package `{package}`"
                return f"`{lack.what}` ({where}) is not in {lack.maker}"
    return None


def _read(package: str, path: Path) -> tuple[set[Path], bool]:
    """The files of its package that one imports, and whether it imports TensorFlow."""
    raw = read_or_nothing(path)
    lines = [*import_lines(raw)]
    near = {file for name, file in _imported(raw) if name == package}
    for dots, stem, names in lines:
        near |= relative_files(path, dots, stem, names) if dots else set()
    return near, any(stem.partition(".")[0] == "tensorflow" for _, stem, _ in lines)


def _imported(raw: bytes) -> Iterator[tuple[str, Path]]:
    """Files of installed packages that a text imports, each with its package."""
    folders = [Path(one) for one in sys.path if one.endswith("-packages")]
    for dots, stem, names in import_lines(raw):
        parts = stem.split(".")
        if dots or parts[0] in KNOWN:
            continue
        for folder in folders:
            for count in range(1, len(parts) + 1):
                taken = names if count == len(parts) else ()
                stem = ".".join(parts[:count])
                for file in relative_files(folder / "program.py", 1, stem, taken):
                    yield parts[0], file
