"""Where an Estimator is held, and every place of its module that uses it."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from ..symbols.scopes import Binding, BindingKind, Scope
from .sites import Blocked
from .statements import own_statements
from .tree import Body, Statement, Tree, walk

__all__ = ["Place", "find_place"]

_RULE = "TFM110"
# So much of a foreign expression is told.
_SHOWN = 50


@dataclass
class Place:
    """An Estimator's own statement and the expressions that stand for it.

    ``variable`` names it where its life is visible in one scope; an Estimator that
    ``travels`` is returned, passed on, or kept on an object.
    """

    call: cst.Call
    statement: Statement
    body: Body
    variable: str
    travels: bool = False
    uses: list[cst.BaseExpression] = field(default_factory=list)


def find_place(tree: Tree, call: cst.Call) -> Place:
    """The place of the Estimator that a call makes."""
    line = tree.line(call)
    statement = tree.statement(call)
    body = tree.body(statement)
    if body is None:
        raise Blocked(_RULE, line, "the estimator is made in a way not understood")
    if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) != 1:
        raise Blocked(_RULE, line, "several statements on one line")
    if not isinstance(statement, cst.SimpleStatementLine):
        raise Blocked(_RULE, line, "the estimator is made inside a statement")
    place = Place(call, statement, body, "estimator")
    _Uses(tree, place).of(call)
    if not place.uses:
        raise Blocked(_RULE, line, "the estimator is never used here")
    _check_block(tree, place)
    return place


def _check_block(tree: Tree, place: Place) -> None:
    """A loop can stand in a branch or in a `for`, where all that needs it is there."""
    holder = tree.parent(place.body)
    if isinstance(place.body, cst.Module) or isinstance(holder, cst.FunctionDef):
        return
    line = tree.line(place.call)
    if isinstance(holder, cst.With):
        what = tree.code(holder.items[0].item)
        raise Blocked(_RULE, line, f"the estimator is made inside `with {what}`")
    if isinstance(holder, cst.ClassDef):
        raise Blocked(_RULE, line, "the estimator is made in the body of a class")
    for use in place.uses:
        if tree.statement_in(use, place.body) is None:
            reason = "the estimator is made in a branch, and used outside of it"
            raise Blocked(_RULE, tree.line(use), reason)


class _Uses:
    """Follows an Estimator from where it is made to where it is used."""

    def __init__(self, tree: Tree, place: Place) -> None:
        self.tree = tree
        self.place = place
        self.seen: set[cst.CSTNode] = set()

    def stop(self, node: cst.CSTNode, reason: str) -> Blocked:
        return Blocked(_RULE, self.tree.line(node), reason)

    def of(self, node: cst.BaseExpression) -> None:
        """Follow an expression whose value is the Estimator."""
        if node in self.seen:
            return
        self.seen.add(node)
        tree, place = self.tree, self.place
        parent = tree.parent(node)
        if isinstance(parent, cst.Assign) and parent.value is node:
            if len(parent.targets) != 1:
                raise self.stop(node, "the estimator has several names")
            self._target(parent.targets[0].target)
        elif isinstance(parent, cst.Attribute) and parent.value is node:
            place.travels = place.travels or node is place.call
            place.uses.append(node)
        elif isinstance(parent, cst.Return):
            self._returned(parent)
        elif isinstance(parent, cst.Arg):
            self._passed(node, parent)
        else:
            outer: cst.CSTNode = node
            for holder in tree.ancestors(node):
                if isinstance(holder, (cst.BaseStatement, cst.BaseSmallStatement)):
                    break
                if isinstance(holder, cst.BaseExpression):
                    outer = holder  # other nodes have no text of their own
            shown = " ".join(tree.code(outer).split())
            if len(shown) > _SHOWN:
                shown = f"{shown[:_SHOWN].rstrip()}..."
            reason = f"the estimator is used in a way not understood: `{shown}`"
            raise self.stop(node, reason)

    def _target(self, target: cst.BaseAssignTargetExpression) -> None:
        tree, place = self.tree, self.place
        if isinstance(target, cst.Name):
            binding = self._binding(target)
            scope = binding.scope
            if len(scope.bindings[target.value]) != 1:
                raise self.stop(*self._rebound(target, scope))
            place.variable = target.value
            for use in tree.uses(binding):
                self.of(use)
        elif isinstance(target, cst.Attribute):
            place.travels = True
            place.variable = target.attr.value
            self._attribute(target)
        else:
            raise self.stop(target, "the estimator is held in a way not understood")

    def _rebound(self, target: cst.Name, scope: Scope) -> tuple[cst.CSTNode, str]:
        """Where else the name is bound, and to what."""
        tree, reason = self.tree, "the estimator is rebound"
        for binding in scope.bindings[target.value]:
            value = binding.value
            if value is None or value is self.place.call:
                continue
            if isinstance(value, cst.Call):
                reason += f" to what `{tree.code(value.func)}` returns"
            return binding.node, reason
        return target, reason

    def _binding(self, target: cst.Name) -> Binding:
        parent = self.tree.parent(target)
        assign = self.tree.parent(parent) if parent is not None else None
        for scope in self.tree.resolver.scopes.opened.values():
            for binding in scope.bindings.get(target.value, ()):
                value = binding.value
                if value is not None and self.tree.parent(value) is assign:
                    return binding
        raise self.stop(target, "the estimator is held in a way not understood")

    def _attribute(self, target: cst.Attribute) -> None:
        """``self.estimator``: every attribute of that name in the module is it."""
        name = target.attr.value
        for node in walk(self.tree.module):
            if not isinstance(node, cst.Attribute) or node.attr.value != name:
                continue
            if node is target or self.tree.symbol(node) is not None:
                continue
            parent = self.tree.parent(node)
            if isinstance(parent, cst.AssignTarget):
                assign = self.tree.parent(parent)
                value = assign.value if isinstance(assign, cst.Assign) else None
                if isinstance(value, cst.Name) and value.value == "None":
                    continue
                raise self.stop(node, "the estimator is rebound")
            self.of(node)

    def _returned(self, statement: cst.Return) -> None:
        tree = self.tree
        self.place.travels = True
        function = tree.function(statement)
        if not isinstance(function, cst.FunctionDef):
            raise self.stop(statement, "the estimator is returned from a lambda")
        returns = [
            s
            for s in own_statements(function)
            if isinstance(s, cst.SimpleStatementLine)
            and any(isinstance(small, cst.Return) for small in s.body)
        ]
        if len(returns) != 1:
            raise self.stop(
                statement, "the estimator's builder returns in several ways"
            )
        callers = tree.loads_of(function)
        if not callers:
            raise self.stop(statement, "the estimator's builder is not called here")
        for load in callers:
            call = tree.parent(load)
            if not isinstance(call, cst.Call) or call.func is not load:
                raise self.stop(load, "the estimator's builder is passed on")
            self.of(call)

    def _passed(self, node: cst.BaseExpression, argument: cst.Arg) -> None:
        tree, place = self.tree, self.place
        call = tree.parent(argument)
        assert isinstance(call, cst.Call)
        symbol = tree.symbol(call.func)
        if symbol is not None:
            # train_and_evaluate, or a hook that is given the Estimator.
            place.uses.append(node)
            return
        function = tree.resolver.definition(call.func)
        if not isinstance(function, cst.FunctionDef) or argument.star:
            raise self.stop(node, "the estimator is passed on")
        parameters = [p.name for p in function.params.params]
        name: cst.Name | None
        if argument.keyword is not None:
            wanted = argument.keyword.value
            name = next((p for p in parameters if p.value == wanted), None)
        else:
            index = call.args.index(argument)
            name = parameters[index] if index < len(parameters) else None
        scope = tree.resolver.scopes.opened.get(function)
        if name is None or scope is None:
            raise self.stop(node, "the estimator is passed on")
        bindings = scope.bindings.get(name.value, [])
        if len(bindings) != 1 or bindings[0].kind is not BindingKind.PARAMETER:
            raise self.stop(node, "the estimator is rebound")
        place.travels = True
        for use in tree.uses(bindings[0]):
            self.of(use)
