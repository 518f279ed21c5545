"""Losses that a collection gathers are named, and added where they are asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from ...code.edits import changed
from ...code.statements import assigned
from ...code.tree import Tree, only_small, walk
from ...model.evaluator import Evaluator
from ...model.values import Argument, Config, Env, Function, Value, options_of
from ...project.facts import ParsedModule, ProjectFacts
from ..layers.model_functions import is_model_fn
from .losses import COLLECTION
from .losses import SIGNATURES as LOSSES
from .task import alias_of

_TOTAL = "tf.losses.get_total_loss"
_HOMES = ("tf.losses.", "tf.contrib.losses.", "tf.contrib.slim.losses.")
_LIST = "get_losses"
# The same by the name of their collection, and with how many arguments.
_BY_KEY = {
    "tf.get_collection": ("tf.losses.get_losses", 1),
    "tf.add_to_collection": ("tf.losses.add_loss", 2),
}
_ASKED = re.compile(rf"get_total_loss|{_LIST}|get_collection\(\s*({COLLECTION})")
_COLLECTED = re.compile(r"GraphKeys\.LOSSES|['\"]losses['\"]|get_losses|add_loss\b")


def with_losses_added(
    parsed: ParsedModule,
    facts: ProjectFacts,
    beside: Sequence[ParsedModule],
) -> ParsedModule:
    """The file whose model functions add up the losses that they make.

    It stays as it is where losses are made in expressions, in loops, or by functions
    that do more than to return the one they make; these may be in the files beside it.
    """
    if not _ASKED.search(parsed.source.text):
        return parsed
    tree = Tree(parsed.module, parsed.resolver)
    every = parsed.each(cst.FunctionDef)
    every = [one for one in every if is_model_fn(one)]
    files = {one.path: one for one in (*beside, parsed)}
    helpers = {path: _helpers(one) for path, one in files.items()}
    names = {name for found in helpers.values() for name in found} - {""}
    penalized = any("regulariz" in one.source.text for one in files.values())
    change = _Losses(tree, every, penalized, alias_of(parsed))
    change.helpers = helpers[parsed.path]
    evaluator = Evaluator(facts, [*files.values()])
    for path, one in files.items():
        own, others = Tree(one.module, one.resolver), one is not parsed
        if others and "" in helpers[path]:
            return parsed  # it makes losses in another way
        for call in one.each(cst.Call) if names else ():
            made = [
                isinstance(each, Function)
                and _name(each.node) in helpers.get(each.module.path, ())
                for each in _functions(call, own, one, evaluator)
            ]
            if any(made) and (others or not all(made)):
                return parsed
            change.calls |= {call} if any(made) else set()
        for node in one.each(cst.Name):
            if node.value in names and not _is_plain(own, node):
                return parsed
    for defined in every:
        change.see(defined)
    if not change.places:
        return parsed
    return changed(parsed, facts, change.places)


def _symbol(tree: Tree, node: cst.Call) -> str:
    symbol = tree.symbol(node.func) or ""
    if symbol in _BY_KEY and re.fullmatch(COLLECTION, tree.code(node.args[0].value)):
        name, count = _BY_KEY[symbol]
        symbol = name if len(node.args) == count else symbol
    for home in _HOMES[1:]:
        symbol = symbol.replace(home, _HOMES[0])
    return symbol


def _is_loss(tree: Tree, node: cst.BaseExpression | None) -> bool:
    """A call of a function of TensorFlow that makes a loss, and collects it."""
    symbol = _symbol(tree, node) if isinstance(node, cst.Call) else ""
    return symbol in LOSSES and symbol.startswith(_HOMES)


def _helpers(parsed: ParsedModule) -> set[str]:
    """The functions of a file that return the one loss they make.

    With an empty name where losses are made or asked for in other ways.
    """
    tree, found = Tree(parsed.module, parsed.resolver), set()
    if _COLLECTED.search(parsed.source.text):
        found.add("")
    for call in parsed.each(cst.Call):
        if not _is_loss(tree, call):
            continue
        function = tree.function(call)
        plain = (
            isinstance(function, cst.FunctionDef)
            and tree.parent(function) is parsed.module
            and isinstance(tree.parent(call), cst.Return)
            and all(
                _is_loss(tree, one.value)
                for one in walk(function, cst.Return)
                if tree.function(one) is function
            )
        )
        found.add(_name(function) if plain else "")
    return found


def _is_plain(tree: Tree, name: cst.CSTNode) -> bool:
    """A function's name is not handed on, but for a dict that has it."""
    holder = tree.parent(name)
    if isinstance(holder, cst.Attribute):
        name, holder = holder, tree.parent(holder)
    kinds = (cst.DictElement, cst.ImportAlias, cst.FunctionDef)
    return getattr(holder, "func", None) is name or isinstance(holder, kinds)


def _name(function: cst.CSTNode | None) -> str:
    return function.name.value if isinstance(function, cst.FunctionDef) else ""


def _functions(
    call: cst.Call, tree: Tree, parsed: ParsedModule, evaluator: Evaluator
) -> list[Value]:
    """The functions that a call may mean: one, those of a dict, or any that fits."""
    chosen = tree.value(call.func) or call.func
    told = evaluator.facts.definition(chosen, parsed)
    if told is not None and isinstance(told.node, cst.FunctionDef):
        return [Function(told.node, told.module)]
    if told is not None or tree.symbol(chosen) or isinstance(chosen, cst.Attribute):
        return []
    known = evaluator.expression(chosen, Env(parsed, {}))
    if known == Config():
        given = [
            Argument(Config(), a.value, a.keyword.value if a.keyword else None, a.star)
            for a in call.args
        ]
        fitting = evaluator.handed.fitting(given)
        return [one for one in fitting if isinstance(one, Function)]
    return [*options_of(known)]


class _Losses:
    """The losses of model functions, by name, and what adds them up."""

    def __init__(
        self, tree: Tree, every: Sequence[cst.FunctionDef], penalized: bool, alias: str
    ) -> None:
        self.tree = tree
        self.every = every
        self.penalized = penalized
        self.alias = alias
        # Functions of the file that return the loss they make; calls of such ones.
        self.helpers: set[str] = set()
        self.calls: set[cst.CSTNode] = set()
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
        parts = {one.attr for one in walk(defined, cst.Attribute)}
        taken = {one.value for one in walk(defined, cst.Name) if one not in parts}
        for node in self.tree.each(cst.Call):
            symbol = _symbol(self.tree, node)
            if symbol == _TOTAL or symbol == f"tf.losses.{_LIST}":
                asked += [node] if self.tree.function(node) is defined else []
            makes = _is_loss(self.tree, node) or node in self.calls
            if not makes and symbol != "tf.losses.add_loss":
                continue
            around = self.tree.function(node)
            if around is not defined and (
                around in self.every or _name(around) in self.helpers
            ):
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
                and makes
            ):
                names += assigned(statement)
            elif (
                known
                and isinstance(small, cst.Expr)
                and (
                    makes
                    or len(node.args) == 1
                    or symbol != self.tree.symbol(node.func)
                )
            ):
                value = node if makes else node.args[-1].value
                if isinstance(value, cst.Name):
                    names.append(value.value)
                    named[statement] = []
                    continue
                name = symbol or self.tree.code(node.func)
                name = name.rpartition(".")[2].replace("add_", "added_")
                name = name if name.isidentifier() else "chosen_loss"
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
            added = self.tree.parent(self.tree.parent(call) or call)
            if isinstance(added, cst.Call) and added.args[0].value is call:
                call = added if self.tree.symbol(added.func) == "tf.add_n" else call
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

    def _sum(self, call: cst.Call, names: list[str]) -> str:
        symbol = _symbol(self.tree, call)
        if symbol == f"tf.losses.{_LIST}":
            return f"[{', '.join(names)}]"
        plain = any("False" in self.tree.code(one.value) for one in call.args)
        plain = plain or symbol == "tf.add_n"
        if not plain and self.penalized:
            names = [*names, f"*{self.alias}.losses.get_regularization_losses()"]
        elif len(names) == 1:
            return names[0]
        return f"{self.alias}.add_n([{', '.join(names)}])"
