"""Optimizers of a dict of classes, made by functions of their rate."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ...code.edits import changed
from ...code.tree import Tree
from ...project.facts import ParsedModule, ProjectFacts
from .optimizers import SIGNATURES


def with_optimizers_of_rates(
    parsed: ParsedModule, facts: ProjectFacts, files: Sequence[ParsedModule]
) -> ParsedModule:
    """The file with ``{"adam": lambda learning_rate: Adam(learning_rate)}``.

    There stood a class, and what is called of the dict is given nothing but a rate.
    """
    if "Optimizer" not in parsed.source.text:
        return parsed
    rates = _Rates(facts, files)
    tree = Tree(parsed.module, parsed.resolver)
    edits: dict[cst.CSTNode, object] = {}
    for node in parsed.each(cst.Name, cst.Attribute):
        if (
            tree.symbol(node) in SIGNATURES
            and not isinstance(tree.parent(node), (cst.Attribute, cst.Call))
            and rates.alone(parsed, node)
        ):
            shown = f"lambda learning_rate: {tree.code(node)}(learning_rate)"
            edits[node] = cst.parse_expression(shown)
    return changed(parsed, facts, edits) if edits else parsed


class _Rates:
    """Follows a class to its calls, in all files of a program."""

    def __init__(self, facts: ProjectFacts, files: Sequence[ParsedModule]) -> None:
        self.facts = facts
        self.files = files

    def alone(self, module: ParsedModule, node: cst.CSTNode) -> bool:
        """What a class comes to is called, with nothing but a learning rate."""
        tree = Tree(module.module, module.resolver)
        above = tree.parent(node)
        if isinstance(above, cst.Call) and above.func is node:
            args = [
                one.keyword.value if one.keyword else one.star for one in above.args
            ]
            return args in ([""], ["learning_rate"])
        if isinstance(above, (cst.DictElement, cst.Dict)) or (
            isinstance(above, cst.Subscript) and above.value is node
        ):
            return self.alone(module, above)
        if isinstance(above, cst.Assign) and len(above.targets) == 1:
            uses = self._uses(module, tree, above)
            anew = any(
                one is module and tree.statement(use) is tree.statement(above)
                for one, use in uses
            )
            return bool(uses) and not anew and all(self.alone(*one) for one in uses)
        return False

    def _uses(
        self, home: ParsedModule, tree: Tree, line: cst.Assign
    ) -> list[tuple[ParsedModule, cst.CSTNode]]:
        """Where the name is read that a line binds, in any file."""
        target = line.targets[0].target
        name = target.value if isinstance(target, cst.Name) else ""
        found: list[tuple[ParsedModule, cst.CSTNode]]
        found = [(home, one) for one in tree.loads(name)]
        for module in self.files if tree.function(line) is None else ():
            if module.path != home.path and name in module.source.text:
                nodes = (*module.resolver.scopes.loads, *module.each(cst.Attribute))
                found += [
                    (module, one)
                    for one in nodes
                    if self.facts.is_name_of(one, module, name, home)
                ]
        return found
