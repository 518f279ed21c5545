"""Scopes that a function only makes for a `with` are made there."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ...code.edits import changed
from ...code.statements import returned_alone
from ...code.tree import Tree
from ...project.facts import ParsedModule, ProjectFacts

_SCOPES = ("tf.variable_scope", "tf.name_scope")


def with_scopes_made_there(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file with ``with tf.variable_scope("net"):`` for ``with self._scope():``."""
    if "_scope(" not in parsed.source.text:
        return parsed
    tree = Tree(parsed.module, parsed.resolver)
    places: dict[cst.CSTNode, Any] = {}
    for function in parsed.each(cst.FunctionDef):
        scope, name = _scope(tree, function), function.name.value
        if scope is None:
            continue
        named = [one for one in parsed.each(cst.Name) if one.value == name]
        calls = [_entered(tree, one) for one in named if one is not function.name]
        others = facts.texts_of_importers(parsed.path)
        if calls and None not in calls and not any(name in one for one in others):
            places |= {one: scope.deep_clone() for one in calls if one}
            places[function] = None
    return changed(parsed, facts, places) if places else parsed


def _scope(tree: Tree, function: cst.FunctionDef) -> cst.BaseExpression | None:
    """The scope that a function returns, which it only makes of its object."""
    made = None if function.decorators else returned_alone(function)
    given = [one.name.value for one in function.params.params]
    plain = isinstance(made, cst.Call) and tree.symbol(made.func) in _SCOPES
    return made if plain and given in ([], ["self"]) else None


def _entered(tree: Tree, name: cst.Name) -> cst.Call | None:
    """The call of a function, or of a method of the own object, that is entered."""
    above = tree.parent(name)
    func = above if isinstance(above, cst.Attribute) else name
    call = tree.parent(func)
    own = func is name or tree.code(func) == f"self.{name.value}"
    if not own or not isinstance(call, cst.Call) or call.args:
        return None
    item = tree.parent(call)
    entered = isinstance(item, cst.WithItem) and item.asname is None
    return call if entered and call.func is func else None
