"""Where an Estimator is held, and every place of its module that uses it."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from ...symbols.scopes import Binding, Scope
from ..code.tree import Body, Statement, Tree, only_small
from ..sites import Blocked

__all__ = ["Place", "find_place"]

_RULE = "TFM110"
# So much of a foreign expression is told.
_SHOWN = 50


@dataclass
class Place:
    """An Estimator's own statement, its name, and the expressions that name it."""

    call: cst.Call
    statement: Statement
    body: Body
    variable: str
    uses: list[cst.BaseExpression] = field(default_factory=list)


def find_place(tree: Tree, call: cst.Call) -> Place:
    """The place of the Estimator that a call makes: a name of one scope."""
    line = tree.line(call)
    statement = tree.statement(call)
    body = tree.body(statement)
    if body is None:
        raise Blocked(_RULE, line, "the estimator is made in a way not understood")
    if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) != 1:
        raise Blocked(_RULE, line, "several statements on one line")
    if not isinstance(statement, cst.SimpleStatementLine):
        raise Blocked(_RULE, line, "the estimator is made inside a statement")
    target = _target(tree, call, statement)
    binding = _binding(tree, target, call)
    place = Place(call, statement, body, target.value)
    for use in tree.uses(binding):
        _check_use(tree, use)
        place.uses.append(use)
    if not place.uses:
        raise Blocked(_RULE, line, "the estimator is never used here")
    _check_block(tree, place)
    return place


def _target(tree: Tree, call: cst.Call, statement: Statement) -> cst.Name:
    """The name that the Estimator gets."""
    line = tree.line(call)
    small = only_small(statement)
    if isinstance(small, cst.Assign) and small.value is call:
        if len(small.targets) != 1:
            raise Blocked(_RULE, line, "the estimator has several names")
        target = small.targets[0].target
        if isinstance(target, cst.Name):
            return target
        raise Blocked(_RULE, line, f"the estimator is held as `{tree.code(target)}`")
    parent = tree.parent(call)
    if isinstance(parent, cst.Attribute):
        reason = "the estimator has no name: give it one on a line of its own"
        raise Blocked(_RULE, line, reason)
    _check_use(tree, call)
    raise Blocked(_RULE, line, "the estimator has no name")


def _binding(tree: Tree, target: cst.Name, call: cst.Call) -> Binding:
    for scope in tree.resolver.scopes.opened.values():
        for binding in scope.bindings.get(target.value, ()):
            if binding.value is call:
                if len(scope.bindings[target.value]) == 1:
                    return binding
                raise _rebound(tree, target.value, scope, call)
    reason = "the estimator is held in a way not understood"
    raise Blocked(_RULE, tree.line(call), reason)


def _rebound(tree: Tree, name: str, scope: Scope, call: cst.Call) -> Blocked:
    """Where else the name is bound, and to what."""
    reason = "the estimator is rebound"
    for binding in scope.bindings[name]:
        value = binding.value
        if value is None or value is call:
            continue
        if isinstance(value, cst.Call):
            reason += f" to what `{tree.code(value.func)}` returns"
        return Blocked(_RULE, tree.line(binding.node), reason)
    return Blocked(_RULE, tree.line(call), reason)


def _check_use(tree: Tree, node: cst.BaseExpression) -> None:
    """Blocked unless a method is asked for, or TensorFlow is given the Estimator."""
    parent = tree.parent(node)
    if isinstance(parent, cst.Attribute) and parent.value is node:
        return
    line = tree.line(node)
    if isinstance(parent, cst.Return):
        raise Blocked(_RULE, line, "the estimator is returned")
    if isinstance(parent, cst.Arg):
        call = tree.parent(parent)
        if isinstance(call, cst.Call) and tree.symbol(call.func) is not None:
            return
        raise Blocked(_RULE, line, "the estimator is passed on")
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
    raise Blocked(_RULE, line, reason)


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
