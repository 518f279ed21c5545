"""Several Estimators in one module: what keeps them apart, and what they share."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

import libcst as cst

from ...project.parsing import parse
from ...symbols.resolver import Resolver
from ..code.substitute import VariableTransformer
from ..code.tree import Statement, Tree, walk
from ..sites import Blocked, Program

__all__ = [
    "check_apart",
    "in_one_scope",
    "model_fn_argument",
    "with_definitions_joined",
    "with_own_functions",
]

_NUMBERED = re.compile(r"_?\d+\Z")
_FRESH = "mkdtemp"
# Between the name of a function and the number of its copy.
COPY = "__"


def check_apart(tree: Tree, programs: Sequence[Program]) -> None:
    """Raise Blocked where two Estimators may write and read one directory.

    Each call of an Estimator looks for the latest checkpoint; a loop does so once.
    Where one runs after the other in functions of their own, that is the same.
    """
    for one, other in combinations(programs, 2):
        code = one.plan.config.model_dir
        if code is None or code != other.plan.config.model_dir or _FRESH in code:
            continue
        if not one.travels and not other.travels:
            first, second = (
                tree.function(p.sites.estimator_statement) for p in (one, other)
            )
            if (
                isinstance(first, cst.FunctionDef)
                and isinstance(second, cst.FunctionDef)
                and first is not second
                and not _calls(tree, first, second)
            ):
                continue
        reason = f"two Estimators share the directory `{code}`"
        raise Blocked("TFM103", other.plan.line, reason)


def _calls(tree: Tree, one: cst.FunctionDef, other: cst.FunctionDef) -> bool:
    """One of two functions names the other."""
    names = {one.name.value, other.name.value}
    return any(
        isinstance(node, cst.Name) and node.value in names
        for function in (one, other)
        for node in walk(function.body)
    )


# -- functions ---------------------------------------------------------------------

_Defined = cst.FunctionDef | cst.ClassDef


def with_own_functions(tree: Tree, calls: Sequence[cst.Call]) -> cst.Module | None:
    """The module where no two Estimators have a model_fn or its helpers in common.

    None where they have none. Each loop is written from functions of its own; what
    comes of these is joined again.
    """
    seen: set[_Defined] = set()
    built: set[cst.Call] = set()
    for call in calls:
        given = model_fn_argument(call)
        start = tree.resolver.definition(given)
        made = tree.value(given)
        if isinstance(made, cst.Call):
            start = tree.resolver.definition(made.func)
            if made in built:
                return None  # one model_fn, built once: a copy would be shared again
            built.add(made)
        if not isinstance(start, cst.FunctionDef) or given is None:
            continue
        mine = _reached(tree, start)
        shared = mine & seen
        if not shared:
            seen |= mine
            continue
        named = made.func if isinstance(made, cst.Call) else given
        loads: set[cst.Name] = set()
        if start in shared:
            if not isinstance(named, cst.Name):
                return None
            loads.add(named)
        for one in mine - shared:
            loads |= {
                node
                for node in walk(one.body)
                if isinstance(node, cst.Name)
                and node in tree.resolver.scopes.loads
                and tree.resolver.definition(node) in shared
            }
        in_order = [s for s in tree.module.body if s in shared]
        if len(in_order) != len(shared):
            return None
        return _copied(tree, in_order, loads)  # type: ignore[arg-type]
    return None


def in_one_scope(tree: Tree, calls: Sequence[cst.Call]) -> bool:
    """Two Estimators are made in one function, or both in none.

    The loops would share names there, so each becomes an object.
    """
    functions = [tree.function(call) for call in calls]
    return len(set(functions)) != len(functions)


def model_fn_argument(call: cst.Call) -> cst.BaseExpression | None:
    """What an Estimator is given as its model_fn."""
    for index, argument in enumerate(call.args):
        name = argument.keyword.value if argument.keyword is not None else None
        if not argument.star and (name == "model_fn" or (name is None and not index)):
            return argument.value
    return None


def _reached(tree: Tree, start: _Defined) -> set[_Defined]:
    """A function and all of the module's that it calls, if they touch TensorFlow."""
    found: set[_Defined] = set()
    waiting = [start]
    while waiting:
        one = waiting.pop()
        if one in found:
            continue
        found.add(one)
        for node in walk(one.body):
            if isinstance(node, cst.Name) and node in tree.resolver.scopes.loads:
                defined = tree.resolver.definition(node)
                if defined is not None and isinstance(tree.parent(defined), cst.Module):
                    waiting.append(defined)
    return {
        one
        for one in found
        if one is start
        or any(
            isinstance(node, cst.Call) and tree.symbol(node.func) is not None
            for node in walk(one.body)
        )
    }


def _copied(
    tree: Tree,
    chosen: Sequence[cst.FunctionDef | cst.ClassDef],
    loads: set[cst.Name],
) -> cst.Module:
    """The module with second definitions below the chosen ones.

    They call each other, and ``loads`` name them.
    """
    taken = {n.value for n in walk(tree.module) if isinstance(n, cst.Name)}
    names: dict[str, str] = {}
    for defined in chosen:
        number = 2
        while f"{defined.name.value}{COPY}{number}" in taken:
            number += 1
        names[defined.name.value] = f"{defined.name.value}{COPY}{number}"
        taken.add(names[defined.name.value])
    module = tree.module.visit(_Copies(chosen, names, loads))
    assert isinstance(module, cst.Module)
    return parse(module.code)


class _Copies(VariableTransformer):
    """A second definition below each of some, under names of their own."""

    def __init__(
        self,
        copied: Sequence[cst.FunctionDef | cst.ClassDef],
        names: dict[str, str],
        loads: set[cst.Name],
    ) -> None:
        self.copied = copied
        self.names = names
        self.loads = loads

    def leave_Name(
        self, original_node: cst.Name, updated_node: cst.Name
    ) -> cst.BaseExpression:
        if original_node in self.loads:
            return cst.Name(self.names[original_node.value])
        return updated_node

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        changed = super().on_leave(original_node, updated_node)
        if original_node not in self.copied:
            return changed
        copy = original_node.deep_clone().visit(_Named(self.names))
        blank = [cst.EmptyLine(indent=False)] * 2
        copy = copy.with_changes(leading_lines=blank)  # type: ignore[union-attr]
        return cst.FlattenSentinel([changed, copy])  # type: ignore[list-item]


class _Named(VariableTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def leave_Name(
        self, original_node: cst.Name, updated_node: cst.Name
    ) -> cst.BaseExpression:
        return cst.Name(self.names.get(original_node.value, original_node.value))


# -- joined again ------------------------------------------------------------------


def with_definitions_joined(module: cst.Module) -> cst.Module:
    """The module with one definition for several that differ in number only."""
    while True:
        pair = _alike(module)
        if pair is None:
            return module
        kept, gone = pair
        tree = Tree(module, Resolver(module))
        name = gone.name.value
        uses = {
            load for load in tree.loads(name) if tree.resolver.definition(load) is gone
        }
        changed = module.visit(_Joined(gone, uses, kept.name.value))
        assert isinstance(changed, cst.Module)
        module = parse(changed.code)


def _alike(module: cst.Module) -> tuple[_Defined, _Defined] | None:
    seen: dict[str, _Defined] = {}
    for statement in module.body:
        if not isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            continue
        base = _NUMBERED.sub("", statement.name.value)
        plain = statement.with_changes(name=cst.Name(base), leading_lines=[])
        code = module.code_for_node(plain)
        if code in seen:
            return seen[code], statement
        seen[code] = statement
    return None


class _Joined(cst.CSTTransformer):
    def __init__(self, gone: Statement, uses: set[cst.Name], name: str) -> None:
        self.gone = gone
        self.uses = uses
        self.name = name

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        if original_node is self.gone:
            return cst.RemoveFromParent()
        if original_node in self.uses:
            return updated_node.with_changes(value=self.name)
        return super().on_leave(original_node, updated_node)
