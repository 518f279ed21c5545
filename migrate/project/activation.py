"""The line by which a program keeps running on the compat layer.

A program that keeps its Estimator stays as it is; the file it starts from calls
``tfmigrate.compat.install()`` before anything imports TensorFlow. That does what
``tfmigrate run`` does for its process, so that every file of the program, and every
library it uses, finds TF 1.15's names. It is a call and not an import alone, which
a tool that sorts imports would move below ``import tensorflow``.
"""

from __future__ import annotations

import ast
import re
import warnings

_CALL = re.compile(r"(?m)^tfmigrate\.compat\.install\([^)\n]*\)")
_LINES = re.compile(
    r"(?m)^import tfmigrate\.compat[ \t]*\r?\n(?:[ \t]*\r?\n)*"
    r"tfmigrate\.compat\.install\([^)\n]*\)[^\n]*(?:\n(?:[ \t]*\r?\n)?|\Z)"
)
# As Python counts lines: a form feed ends none.
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_REASON = "# runs on tfmigrate.compat: see `tfmigrate explain TFM103`"
_MAGIC = re.compile(r"[ \t]*(?:[%!]|__tfmigrate_magic_|#|$)")


def is_activated(text: str) -> bool:
    """Whether a program calls the compat layer already."""
    return _CALL.search(text) is not None


def activated(text: str, version: int = 1) -> str:
    """The module with the call before its first statement that does something."""
    if is_activated(text):
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = _LINE.findall(text)
    place = _place(text)
    before, after = lines[:place], lines[place:]
    if before and not before[-1].endswith(("\n", "\r")):
        before[-1] += newline
    call = _call(version, newline)
    # A docstring and ``from __future__`` keep their distance.
    if before and before[-1].strip() and not before[-1].lstrip().startswith("#"):
        call = newline + call
    if after and after[0].strip():
        call += newline
    return "".join([*before, call, *after])


def activated_cell(source: str, version: int = 1) -> str:
    """A notebook's cell with the call at its start, behind its magics."""
    if is_activated(source):
        return source
    lines = _LINE.findall(source)
    place = 0
    for number, line in enumerate(lines):
        if line.startswith("from __future__"):
            place = number + 1
        elif not _MAGIC.match(line):
            break
        elif line.lstrip().startswith(("%", "!", "__tfmigrate_magic_")):
            place = number + 1
    if place and not lines[place - 1].endswith("\n"):
        lines[place - 1] += "\n"
    return "".join([*lines[:place], _call(version, "\n"), *lines[place:]])


def deactivated(text: str) -> str:
    """The module without the lines that `activated` wrote."""
    return _LINES.sub("", text, count=1)


def _call(version: int, newline: str) -> str:
    argument = "" if version == 1 else f"version={version}"
    return newline.join(
        (
            "import tfmigrate.compat",
            "",
            f"tfmigrate.compat.install({argument})  {_REASON}",
            "",
        )
    )


def _place(text: str) -> int:
    """The number of lines that stay in front of the call."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        body = ast.parse(text).body
    end = 0
    for number, statement in enumerate(body):
        docstring = (
            number == 0
            and isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Constant)
            and isinstance(statement.value.value, str)
        )
        future = (
            isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        )
        if not docstring and not future:
            if end:
                break
            decorators = getattr(statement, "decorator_list", ())
            first = decorators[0] if decorators else statement
            return int(first.lineno) - 1
        end = statement.end_lineno or statement.lineno
    return end
