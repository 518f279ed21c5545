"""Names that need no number: `out_2` where no `out` is left beside it."""

from __future__ import annotations

import ast
import re
from collections.abc import Container

from ...names.ast_nodes import walk as walk_ast
from ...project.sources import Source
from .text import GONE, Text, bound_names, formatted, names_in, without_gone


def with_plain_names(code: str, kept: Container[str]) -> str:
    """A class whose methods call their values by plain names.

    ``kept`` are names that stay: those of the program's author, and of what is given by
    name.
    """
    text = Text(code)
    for one in text.body:
        for method in getattr(one, "body", ()):
            if isinstance(method, ast.FunctionDef) and method.name != "__init__":
                _rename(text, method, kept)
    return without_gone(text.done())


def words_written(source: Source) -> set[str]:
    """The words that the program's author wrote, in a notebook as well."""
    written = source.raw.decode(source.encoding, "replace")
    return {*re.findall(r"\w+", written.replace("\\n", "\n"))}


def _rename(text: Text, method: ast.FunctionDef, kept: Container[str]) -> None:
    names = names_in(method)
    given = [one for one in walk_ast(method, ast.arg) if one.arg != "self"]
    taken = {*(one.id for one in names), *(one.arg for one in given)}
    for name in sorted(bound_names(method)):
        plain = re.sub(r"_\d+$", "", name)
        if plain == name or name in kept or name in formatted(method):
            continue
        end = _handed_over(method, name, plain)
        if plain in taken and end is None:
            continue
        for use in names:
            if use.id == name and (end is None or use not in names_in(end)):
                text.put(use, plain)
        for parameter in given:
            if parameter.arg == name:
                text.put(parameter, plain)
        if end is not None:
            text.put(end, GONE)
        taken.add(plain)


def _handed_over(method: ast.FunctionDef, name: str, plain: str) -> ast.stmt | None:
    """``x = x_2``, where x begins and the other one ends."""
    for place, one in enumerate(method.body):
        if isinstance(one, ast.Assign) and ast.unparse(one) == f"{plain} = {name}":
            before = ast.Module(method.body[:place], [])
            after = ast.Module(method.body[place + 1 :], [])
            begins = not any(use.id == plain for use in names_in(before))
            if begins and not any(use.id == name for use in names_in(after)):
                return one
    return None
