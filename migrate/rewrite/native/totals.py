"""Losses that a collection gathers are named, and added where they are asked for."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ...code.edits import changed
from ...code.statements import assigned
from ...code.tree import Tree, only_small, walk
from ...project.facts import ParsedModule, ProjectFacts
from ..layers.model_functions import is_model_fn
from .losses import SIGNATURES as LOSSES
from .task import alias_of

_TOTAL = "tf.losses.get_total_loss"
_HOMES = ("tf.losses.", "tf.contrib.losses.", "tf.contrib.slim.losses.")
_LIST = "get_losses"


def with_losses_added(
    parsed: ParsedModule,
    facts: ProjectFacts,
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
    every = parsed.each(cst.FunctionDef)
    every = [one for one in every if is_model_fn(one)]
    penalized = any("regulariz" in one.source.text for one in (parsed, *beside))
    change = _Losses(tree, every, penalized, alias_of(parsed))
    for defined in every:
        change.see(defined)
    if not change.places:
        return parsed
    return changed(parsed, facts, change.places)


class _Losses:
    """The losses of model functions, by name, and what adds them up."""

    def __init__(
        self, tree: Tree, every: Sequence[cst.FunctionDef], penalized: bool, alias: str
    ) -> None:
        self.tree = tree
        self.every = every
        self.penalized = penalized
        self.alias = alias
        # What stands for calls that ask for the losses, and for statements that make a
        # loss which nothing holds.
        self.places: dict[cst.CSTNode, object] = {}

    def see(self, defined: cst.FunctionDef) -> None:
        """Notes what one model function makes and asks for."""
        named: dict[cst.CSTNode, object] = {}
        names: list[str] = []
        lines: list[int] = []
        asked: list[cst.Call] = []
        blocks: set[cst.CSTNode] = set()
        taken = {one.value for one in walk(defined, cst.Name)}
        for node in self.tree.each(cst.Call):
            symbol = self._symbol(node)
            if symbol == _TOTAL or symbol == f"tf.losses.{_LIST}":
                asked += [node] if self.tree.function(node) is defined else []
            known = symbol in LOSSES and symbol.startswith(_HOMES)
            if not known and symbol != "tf.losses.add_loss":
                continue
            around = self.tree.function(node)
            if around is not defined and around in self.every:
                continue
            statement = self.tree.statement(node)
            small = only_small(statement)
            lines.append(self.tree.line(statement))
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
                and symbol in LOSSES
            ):
                names += assigned(statement)
            elif (
                known
                and isinstance(small, cst.Expr)
                and (symbol in LOSSES or len(node.args) == 1)
            ):
                value = node if symbol in LOSSES else node.args[0].value
                if isinstance(value, cst.Name):
                    names.append(value.value)
                    named[statement] = []
                    continue
                name = symbol.rpartition(".")[2].replace("add_", "added_")
                name = "cross_entropy" if name.endswith("cross_entropy") else name
                while name in taken:
                    name += "_"
                taken.add(name)
                names.append(name)
                target = cst.AssignTarget(cst.Name(name))
                named[small] = cst.Assign([target], value)
            else:
                return
        if not names or len({*names}) < len(names):
            return
        if any(not blocks <= self._blocks(one) for one in asked):
            return  # one of them is made in some modes only
        last = max(map(self.tree.line, asked), default=0)
        for name, line in zip(names, lines, strict=True):
            if name in self._changes(defined, line, last):
                return  # the name has another value by then
        for call in asked:
            self.places[call] = cst.parse_expression(self._sum(call, names))
        if asked:
            self.places.update(named)

    def _changes(self, defined: cst.FunctionDef, made: int, asked: int) -> set[str]:
        """The names that a function binds between two lines."""
        return {
            name
            for one in walk(defined)
            if made < self.tree.line(one) < asked
            for name in assigned(one)
        }

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
        if self._symbol(call) != _TOTAL:
            return f"[{', '.join(names)}]"
        plain = any("False" in self.tree.code(one.value) for one in call.args)
        if not plain and self.penalized:
            names = [*names, f"*{self.alias}.losses.get_regularization_losses()"]
        elif len(names) == 1:
            return names[0]
        return f"{self.alias}.add_n([{', '.join(names)}])"
