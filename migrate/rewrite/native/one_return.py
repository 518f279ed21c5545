"""Functions that return what one of several others makes, each in a branch."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ...code.edits import changed
from ...code.names import fresh
from ...code.tree import Tree, only_small, walk
from ...project.facts import ParsedModule, ProjectFacts
from ..layers.flow import inner
from ..layers.model_functions import is_model_fn
from .local_functions import makes_layers


def with_one_return(
    parsed: ParsedModule,
    facts: ProjectFacts,
) -> ParsedModule:
    """The file with ``outputs = conv(x)`` in branches for ``return conv(x)``."""
    tree = Tree(parsed.module, parsed.resolver)
    edits: dict[cst.CSTNode, Any] = {}
    for node in parsed.module.body:
        if isinstance(node, cst.FunctionDef) and not is_model_fn(node):
            found = _edits(tree, node)
            if found and makes_layers(tree, node):
                edits |= found
    return changed(parsed, facts, edits) if edits else parsed


def _edits(tree: Tree, function: cst.FunctionDef) -> dict[cst.CSTNode, Any]:
    lines = inner(function.body)
    branch = lines[-1] if lines else None
    ends = _ends(branch) if isinstance(branch, cst.If) else None
    every = [*walk(function.body, cst.Return)]
    given = [one for one in ends or () if isinstance(one, cst.Return)]
    if (
        branch is None
        or len(given) < 2
        or {*every} != {*given}
        or not all(_calls(one) for one in given)
    ):
        return {}
    taken = {one.value for one in walk(function, cst.Name)}
    name = fresh("outputs", taken)
    target = [cst.AssignTarget(cst.Name(name))]
    found: dict[cst.CSTNode, Any] = {
        one: cst.Assign(target, one.value) for one in given if one.value is not None
    }
    last = cst.parse_statement(f"return {name}\n")
    found[branch] = lambda now: [now, last]
    return found


def _ends(branch: cst.If) -> list[cst.CSTNode] | None:
    """The last statement of each branch, where each returns or raises."""
    found: list[cst.CSTNode] = []
    here: cst.If | cst.Else | None = branch
    while here is not None:
        lines = inner(here.body)
        small = only_small(lines[-1]) if lines else None
        if not isinstance(small, (cst.Return, cst.Raise)):
            return None
        found.append(small)
        if isinstance(here, cst.Else):
            return found
        here = here.orelse
    return None


def _calls(node: cst.Return) -> bool:
    return isinstance(node.value, cst.Call)
