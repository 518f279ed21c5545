"""Losses that a collection gathers are named, and added where they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import libcst as cst

from ...code.statements import assigned
from ...code.tree import Tree, only_small, walk
from ...project.facts import ParsedModule, ProjectFacts
from ...project.parsing import parse
from ...project.positions import code_of
from .losses import SIGNATURES as LOSSES

__all__ = ["with_losses_added"]

_TOTAL = "tf.losses.get_total_loss"
_HOMES = ("tf.losses.", "tf.contrib.losses.", "tf.contrib.slim.losses.")
_LIST = "get_losses"


def with_losses_added(
    parsed: ParsedModule,
    facts: ProjectFacts,
    is_model_fn: Callable[[cst.CSTNode], bool],
    beside: Sequence[ParsedModule],
) -> ParsedModule:
    """The file whose model functions add up the losses that they make.

    It stays as it is where losses are made in expressions, in loops, or by functions
    that a model function calls, which may be those of the files beside it.
    """
    if "get_total_loss" not in parsed.source.text and _LIST not in parsed.source.text:
        return parsed
    others = (one.source.text for one in beside if one.path != parsed.path)
    if any("losses" in text for text in others):
        return parsed
    tree = Tree(parsed.module, parsed.resolver)
    change = _Added(tree)
    for defined in parsed.nodes:
        if isinstance(defined, cst.FunctionDef) and is_model_fn(defined):
            change.see(defined)
    if not change.asked:
        return parsed
    text = code_of(parsed.module.visit(change))
    return facts.module_of(replace(parsed.source, text=text, module=parse(text)))


class _Added(cst.CSTTransformer):
    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        # Calls that ask for the losses, and the text that stands for each.
        self.asked: dict[cst.CSTNode, str] = {}
        # Statements that make a loss which nothing holds, and its name.
        self.named: dict[cst.CSTNode, str] = {}

    def see(self, defined: cst.FunctionDef) -> None:
        """Notes what one model function makes and asks for."""
        named: dict[cst.CSTNode, str] = {}
        names: list[str] = []
        asked: list[cst.Call] = []
        blocks: set[cst.CSTNode] = set()
        taken = {one.value for one in walk(defined) if isinstance(one, cst.Name)}
        for node in self.tree.nodes:
            if not isinstance(node, cst.Call):
                continue
            symbol = self._symbol(node)
            if symbol == _TOTAL or symbol == f"tf.losses.{_LIST}":
                asked += [node] if self.tree.function(node) is defined else []
            if symbol not in LOSSES and symbol != "tf.losses.add_loss":
                continue
            statement = self.tree.statement(node)
            small = only_small(statement)
            blocks |= self._blocks(node)
            known = (
                self.tree.function(node) is defined
                and self.tree.parent(node) is small
                and not any(
                    isinstance(one, (cst.For, cst.While))
                    for one in self.tree.ancestors(node)
                )
            )
            if (
                known
                and isinstance(small, cst.Assign)
                and len(assigned(statement)) == 1
            ):
                names += assigned(statement)
            elif known and isinstance(small, cst.Expr) and symbol in LOSSES:
                name = symbol.rpartition(".")[2]
                name = "cross_entropy" if name.endswith("cross_entropy") else name
                while name in taken:
                    name += "_"
                taken.add(name)
                names.append(name)
                named[small] = name
            else:
                return
        if not names or len({*names}) < len(names):
            return
        if any(not blocks <= self._blocks(one) for one in asked):
            return  # one of them is made in some modes only
        for call in asked:
            self.asked[call] = self._sum(call, names)
        if asked:
            self.named.update(named)

    def _blocks(self, node: cst.CSTNode) -> set[cst.CSTNode]:
        """The blocks of statements around a call."""
        around = self.tree.ancestors(node)
        return {one for one in around if isinstance(one, cst.IndentedBlock)}

    def _symbol(self, node: cst.Call) -> str:
        symbol = self.tree.symbol(node.func) or ""
        for home in _HOMES[1:]:
            symbol = symbol.replace(home, _HOMES[0])
        return symbol

    def _sum(self, call: cst.Call, names: list[str]) -> str:
        shown = self.tree.code(call.func)
        module = shown.rpartition(".")[0]
        first = module.partition(".")[0]
        if self._symbol(call) != _TOTAL:
            return f"[{', '.join(names)}]"
        plain = any("False" in self.tree.code(one.value) for one in call.args)
        if not plain and "regulariz" in self.tree.text:
            names = [*names, f"*{module}.get_regularization_losses()"]
        elif len(names) == 1:
            return names[0]
        return f"{first}.add_n([{', '.join(names)}])"

    def leave_Call(
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        text = self.asked.get(original_node)
        return updated_node if text is None else cst.parse_expression(text)

    def leave_Expr(
        self, original_node: cst.Expr, updated_node: cst.Expr
    ) -> cst.BaseSmallStatement:
        name = self.named.get(original_node)
        if name is None:
            return updated_node
        return cst.Assign([cst.AssignTarget(cst.Name(name))], updated_node.value)
