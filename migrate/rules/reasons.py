"""Why programs are kept: the reasons that the rewriter gives.

They are read from the source of what decides, so the page cannot promise or forget
anything: every reason is an argument of a ``Refused``, or of what says why files
cannot move together.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from ..names.ast_nodes import walk as walk_ast

__all__ = ["reasons", "reasons_section"]

_TOOL = Path(__file__).resolve().parent.parent
_FOLDERS = ("project", "rewrite")
# Exceptions whose first argument is a reason.
_RAISED = ("Refused", "NoPlace", "Clash")
_CAUSE, _REASON_OF_CAUSE = "_Cause", 3


def reasons() -> list[str]:
    """Every reason; what varies in it is ``...``."""
    found: set[str] = set()
    for folder in _FOLDERS:
        for path in sorted((_TOOL / folder).rglob("*.py")):
            found |= {*_told(ast.parse(path.read_text("utf-8")))}
    return sorted(found, key=str.lower)


def _told(tree: ast.Module) -> Iterator[str]:
    for node in walk_ast(tree, ast.Call):
        if isinstance(node.func, ast.Name):
            name, given = node.func.id, node.args
            if name in _RAISED and given:
                yield from texts(given[0])
            elif name == _CAUSE and len(given) > _REASON_OF_CAUSE:
                yield from texts(given[_REASON_OF_CAUSE])


def texts(node: ast.expr | None) -> Iterator[str]:
    """The text of an argument, or of each of its alternatives."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.JoinedStr):
        parts = (p.value if isinstance(p, ast.Constant) else "..." for p in node.values)
        yield "".join(map(str, parts))
    elif isinstance(node, ast.IfExp):
        yield from texts(node.body)
        yield from texts(node.orelse)


def reasons_section() -> list[str]:
    """The lines of the page that list all reasons."""
    return [
        "## What stands in the way",
        "",
        "The report names file, line and expression. These are the reasons there are, "
        "`...` standing for what is the program's own. Change what one names, and "
        "rewrite again.",
        "",
        *(f"- {text}" for text in reasons() if text.strip(". ")),
        "",
    ]
