"""Requirements that install a TensorFlow the rewritten code cannot run on.

Read line by line: `!pip install` in notebooks, requirements and environment
files, setup.py. Nothing is changed; what else needs the old version is not known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tfmigrate.compat.notebooks import Notebook

from ..report.findings import Finding, Outcome, Safety
from ..rules.pinned_tensorflow import PINNED

__all__ = ["notebook_pins", "text_pins"]

# Below this version the new code's tf.keras and optimizers are others.
_FIRST = (2, 16)
_REQUIREMENT = re.compile(
    r"(?<![\w./-])(?P<name>tensorflow(?:[-_]gpu|[-_]cpu)?|tf[-_]nightly(?:[-_]gpu)?"
    r"|tensorflow[-_]estimator|tf[-_]estimator[-_]nightly)"
    r"(?:\[[\w,\s-]*\])?\s*(?P<versions>(?:[=<>!~]=?=?\s*[\w.*]+\s*,?\s*)*)(?![\w/-])"
)
_VERSION = re.compile(r"(?<![<>!~=])(===?|~=|<=|<|=)\s*(\d+)(?:\.(\d+))?")
_COLAB = re.compile(r"^\s*%tensorflow_version\s+1")
_INSTALLS = re.compile(r"^\s*[!%]\s*(?:\{[^}]*\}|[\w./-]+)?.*\binstall\b")


def text_pins(path: Path, text: str) -> Iterator[Finding]:
    """The pins in a requirements file, or in the strings of a setup.py."""
    quoted = path.suffix == ".py"
    for number, line in enumerate(text.splitlines(), start=1):
        bare = line.split("#")[0]
        if quoted:
            parts = re.findall(r"\"([^\"]*)\"|'([^']*)'", bare)
            bare = "\n".join(a or b for a, b in parts)
        for what in _pinned(bare):
            yield _finding(path, number, what)


def notebook_pins(path: Path, notebook: Notebook) -> Iterator[Finding]:
    """The pins that a notebook's shell lines and pip magics install."""
    for cell in notebook.cells:
        shell = cell.source.lstrip().startswith(("%%bash", "%%sh", "%%script"))
        installs, before = False, ""
        for number, line in enumerate(cell.source.split("\n"), start=1):
            goes_on = installs and before.endswith("\\")
            installs = goes_on or bool(
                _INSTALLS.match(line) or (shell and " install " in line)
            )
            before = line
            if installs:
                for what in _pinned(line):
                    yield _finding(path, number, what, cell.number)
            elif _COLAB.match(line):
                yield _finding(path, number, line.strip(), cell.number)


def _pinned(text: str) -> Iterator[str]:
    for match in _REQUIREMENT.finditer(text):
        name = match["name"].replace("_", "-")
        gone = name in ("tensorflow-gpu", "tf-nightly-gpu") or "estimator" in name
        if gone or _is_old(match["versions"]):
            yield re.sub(r"\s+", "", match.group()).rstrip(",")


def _is_old(versions: str) -> bool:
    """Whether the versions allowed all lie before the first that fits."""
    for operator, major, minor in _VERSION.findall(versions):
        version = int(major), int(minor or 0)
        if version < _FIRST or (operator == "<" and version == _FIRST):
            return True
    return False


def _finding(path: Path, line: int, what: str, cell: int | None = None) -> Finding:
    return Finding(
        path,
        line,
        1,
        PINNED.id,
        f"`{what}` installs a TensorFlow of its time; rewritten code needs "
        "tensorflow>=2.16 and tf-keras",
        Outcome.ADVICE,
        Safety.NEEDS_REVIEW,
        cell=cell,
    )
