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


def is_activated(text: str) -> bool:
    """Whether a program calls the compat layer already."""
    return _CALL.search(text) is not None


def activated(text: str, version: int = 1, *, cell: bool = False) -> str:
    """A module, or a cell, with the call before what first does something."""
    if is_activated(text):
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = _LINE.findall(text)
    place = _place(text, cell)
    before, after = "".join(lines[:place]), "".join(lines[place:])
    if before and not before.endswith(("\n", "\r")):
        before += newline
    argument = "" if version == 1 else f"version={version}"
    call = newline.join(
        (
            "import tfmigrate.compat",
            "",
            f"tfmigrate.compat.install({argument})  {_REASON}",
            "",
        )
    )
    if not cell:
        # A docstring and ``from __future__`` keep their distance.
        above = lines[place - 1].strip() if place else ""
        call = newline + call if above and not above.startswith("#") else call
        call += newline if lines[place : place + 1] and lines[place].strip() else ""
    return before + call + after


def deactivated(text: str) -> str:
    """The module without the lines that `activated` wrote."""
    return _LINES.sub("", text, count=1)


def _place(text: str, cell: bool) -> int:
    """The number of lines that stay in front of the call."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        body = ast.parse(text).body
    end = 0
    for number, statement in enumerate(body):
        said = ast.unparse(statement)
        future = said.startswith("from __future__ ")
        docstring = number == 0 and not cell and _is_text(statement)
        if not (future or docstring or said.startswith("__tfmigrate_magic_")):
            if end or cell:
                break
            decorators = getattr(statement, "decorator_list", ())
            first = decorators[0] if decorators else statement
            return int(first.lineno) - 1
        end = statement.end_lineno or statement.lineno
    return end


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
