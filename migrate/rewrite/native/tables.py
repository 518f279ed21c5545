"""Lookup tables of what is exported: a SavedModel has those that something holds."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence

from ...names.ast_nodes import tree_of, walk
from .code import dotted
from .method import Method
from .text import Text, names_in
from .tidy import in_other_words, instead

_KINDS = ("StaticHashTable", "StaticVocabularyTable")
# Calls that make a table, of today or of before.
_MADE = re.compile(r"tf\.(contrib\.)?lookup\.(index_\w*table_\w+|Static\w+Table)")
_Definition = ast.FunctionDef | ast.ClassDef


def made_once(
    init: Sequence[str], methods: Sequence[Method], taken: Collection[str]
) -> list[str]:
    """The lines of a constructor, which makes the tables that methods of it made.

    A table of nothing but the parameters is the same at each step; what training has
    no need of may not be there yet. ``taken`` are attributes that mean something else.
    """
    lines = [*init]
    every = [line for one in methods for line in one.lines]
    trained = [
        x for one in methods if one.name in ("forward", "loss") for x in one.lines
    ]
    for name, made in {_table(one): one for one in trained}.items():
        others = {one for one in every if re.search(rf"(?m)^{name} = ", one)}
        if not name or name in taken or others != {made}:
            continue
        above, own = made[: made.index(f"{name} = ")], made[made.index(f"{name} = ") :]
        lines.append("self." + re.sub(r"\bself\.params\b", "params", own))
        read = instead(ast.Name(name, ast.Load()), f"self.{name}")
        for one in methods:
            if made in one.lines:
                place = one.lines.index(made)
                # Comments stay with what follows.
                text = above + "".join(one.lines[place + 1 : place + 2])
                kept = [*one.lines[:place], text, *one.lines[place + 2 :]]
                one.lines = [in_other_words(line, read) for line in kept if line]
                one.returned = one.returned and in_other_words(one.returned, read)
    return lines


def _table(line: str) -> str:
    """The name of a table that a statement makes of parameters and constants."""
    node = tree_of(line).body[0] if "lookup." in line else None
    made = node.value if isinstance(node, ast.Assign) else None
    if not isinstance(node, ast.Assign) or not isinstance(made, ast.Call):
        return ""
    named = isinstance(node.targets[0], ast.Name) and len(node.targets) == 1
    reads = {one.id for one in names_in(made) if not one.id.isupper()}
    if not named or reads - {"tf", "self"} or not _MADE.fullmatch(dotted(made.func)):
        return ""
    own = "self." in re.sub(r"\bself\.params\b", "", line)
    return "" if own else node.targets[0].id  # type: ignore[attr-defined]


def exports(text: str) -> bool:
    """Whether a file exports models, as far as its words tell."""
    return bool(re.search(r"Exporter\b|export_saved_?model|export_strateg", text))


def with_tables_tracked(code: str) -> str:
    """A file that hands the tables of its models to `tracked`, of training.py.

    A function that makes a table where it is called is right in a graph, and trains;
    the export of what captures the table fails where nothing holds it.
    """
    if not any(kind in code for kind in _KINDS):
        return code
    text = Text(code)
    for top in _reached(text.body):
        for made in (one for one in walk(top) if _makes_table(one)):
            text.put(made, f"tracked({text.of(made)})")
    return text.done()


def _reached(body: list[ast.stmt]) -> Iterator[_Definition]:
    """Classes and receivers of a file, and the functions that these use."""
    found = [one for one in body if isinstance(one, _Definition)]
    pending = [x for x in found if isinstance(x, ast.ClassDef) or x.decorator_list]
    for one in pending:
        names = {name.id for name in names_in(one)}
        pending += [x for x in found if x.name in names and x not in pending]
        yield one


def _makes_table(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and (
        isinstance(node.func, ast.Attribute) and node.func.attr in _KINDS
    )
