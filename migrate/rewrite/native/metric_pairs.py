"""Metrics whose value and update have names: ``acc, op = tf.metrics.accuracy()``."""

from __future__ import annotations

import libcst as cst

from ...code.edits import changed
from ...code.tree import Tree
from ...names.scopes import Binding
from ...project.facts import ParsedModule, ProjectFacts
from .metrics import SIGNATURES as METRICS


def with_metrics_in_one(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file with ``acc``, ``acc[0]`` and ``acc[1]`` for the pair, and its parts."""
    if "metric" not in parsed.source.text:
        return parsed
    tree = Tree(parsed.module, parsed.resolver)
    places: dict[cst.CSTNode, object] = {}
    for node in parsed.each(cst.Assign):
        if not isinstance(node.value, cst.Call):
            continue
        target = node.targets[0].target
        if tree.symbol(node.value.func) not in METRICS or len(node.targets) > 1:
            continue
        if not isinstance(target, cst.Tuple) or len(target.elements) != 2:
            continue
        names = [one.value for one in target.elements]
        bound = [_only(tree, one) for one in names]
        if None in bound:
            continue
        held = cst.Name(names[0].value)  # type: ignore[attr-defined]
        places[target] = held
        for number, name in enumerate(bound):
            for load in tree.uses(name):  # type: ignore[arg-type]
                whole = _pair(tree, load, names, number)
                if whole is not None:
                    places[whole] = held
                else:
                    places[load] = cst.parse_expression(f"{held.value}[{number}]")
    return changed(parsed, facts, places) if places else parsed


def _only(tree: Tree, name: cst.BaseExpression) -> Binding | None:
    """The binding of a name that has no other in its function."""
    around = tree.function(name)
    if not isinstance(name, cst.Name) or around is None:
        return None
    found = tree.resolver.scopes.opened[around].bindings.get(name.value, ())
    return found[0] if len(found) == 1 else None


def _pair(
    tree: Tree, load: cst.Name, names: list[cst.BaseExpression], number: int
) -> cst.Tuple | None:
    """``(acc, update)``, around one of both."""
    element = tree.parent(load)
    above = tree.parent(element) if element is not None else None
    if not isinstance(above, cst.Tuple) or len(above.elements) != 2:
        return None
    same = [tree.code(o.value) for o in above.elements] == [*map(tree.code, names)]
    return above if same and above.elements[number] is element else None
