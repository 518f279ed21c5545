"""Optimizers of a dict of classes, made by functions of their rate."""

from __future__ import annotations

import libcst as cst

from ...code.edits import changed
from ...code.tree import Tree
from ...project.facts import ParsedModule, ProjectFacts
from .optimizers import SIGNATURES


def with_optimizers_of_rates(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file with ``{"adam": lambda learning_rate: Adam(learning_rate)}``.

    There stood a class, and what is called of the dict is given nothing but a rate.
    """
    if "Optimizer" not in parsed.source.text:
        return parsed
    tree = Tree(parsed.module, parsed.resolver)
    edits: dict[cst.CSTNode, object] = {}
    for node in parsed.each(cst.Name, cst.Attribute):
        if (
            tree.symbol(node) in SIGNATURES
            and not isinstance(tree.parent(node), (cst.Attribute, cst.Call))
            and _gets_rates(tree, node)
        ):
            shown = f"lambda learning_rate: {tree.code(node)}(learning_rate)"
            edits[node] = cst.parse_expression(shown)
    return changed(parsed, facts, edits) if edits else parsed


def _gets_rates(tree: Tree, node: cst.CSTNode) -> bool:
    """What a class comes to is called, with nothing but a learning rate."""
    above = tree.parent(node)
    if isinstance(above, cst.Call) and above.func is node:
        args = [one.keyword.value if one.keyword else one.star for one in above.args]
        return args in ([""], ["learning_rate"])
    if isinstance(above, (cst.DictElement, cst.Dict)) or (
        isinstance(above, cst.Subscript) and above.value is node
    ):
        return _gets_rates(tree, above)
    if isinstance(above, cst.Assign) and len(above.targets) == 1:
        name = above.targets[0].target
        uses = tree.loads(name.value) if isinstance(name, cst.Name) else []
        anew = any(tree.statement(one) is tree.statement(above) for one in uses)
        return bool(uses) and not anew and all(_gets_rates(tree, one) for one in uses)
    return False
