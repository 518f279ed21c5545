"""Whether lifted code makes what the code before it made, told by evaluating both."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

import libcst as cst

from ..interp.evaluator import Event, evaluated
from ..plan.code.tree import walk
from ..project.facts import ParsedModule, ProjectFacts

__all__ = ["difference"]


def difference(
    before: Sequence[Event],
    files: Sequence[ParsedModule],
    parsed: ParsedModule,
    name: str,
    facts: ProjectFacts,
) -> str | None:
    """How the variables of a lifted model function differ, or None if they do not.

    ``before`` is what it made; ``files`` are those of the program as they are now. The
    same layers have to be called in the same order, with the same names, sizes and
    other constants, in the same scopes, loops and branches.
    """
    (defined,) = (
        node
        for node in walk(parsed.module)
        if isinstance(node, cst.FunctionDef) and node.name.value == name
    )
    after = evaluated(facts, files, parsed, defined).events
    for old, new in zip_longest(before, after):
        if old != new:
            return f"it would make {_shown(new)} in place of {_shown(old)}"
    return None


def _shown(event: Event | None) -> str:
    if event is None:
        return "nothing"
    (kind, given), around = event
    arguments = ", ".join(f"{name}={value}" for name, value in given)
    place = "/".join(around)
    return f"`{kind}({arguments})`" + (f" in {place}" if place else "")
