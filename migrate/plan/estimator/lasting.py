"""What a program changes while its Estimator lives.

An Estimator copied its ``params`` when it was made and again for each call of its
model_fn, and called the model_fn anew for each training and evaluation. A loop does
neither, so a program may not depend on it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from ...symbols.scopes import BindingKind
from ..code.reach import reachable
from ..code.tree import Tree, walk
from ..sites import Blocked
from .places import Place

__all__ = [
    "changes",
    "check_kept",
    "check_lasting",
    "moves",
]

# Methods that change a list, dict, set or HParams in place.
_CHANGING = (
    "add",
    "add_hparam",
    "append",
    "appendleft",
    "clear",
    "del_hparam",
    "discard",
    "extend",
    "insert",
    "override_from_dict",
    "parse",
    "parse_json",
    "pop",
    "popitem",
    "remove",
    "reverse",
    "set_hparam",
    "setdefault",
    "sort",
    "update",
)


def check_lasting(
    tree: Tree,
    place: Place,
    params: cst.BaseExpression | None,
    model_fn: cst.FunctionDef,
) -> None:
    """Blocked where a later change would reach a loop, but not an Estimator."""
    check_kept(tree, model_fn)
    if isinstance(params, cst.Name):
        _check_params(tree, place, params)
    _check_globals(tree, place, model_fn)


def check_kept(tree: Tree, model_fn: cst.FunctionDef) -> None:
    """Blocked where a model function changes what is there after its call."""
    for root, node in changes(tree, reachable(tree, [model_fn])):
        if _outlasts(tree, root, model_fn):
            reason = f"model_fn: it changes `{root.value}`, which outlasts its call"
            raise Blocked("TFM103", tree.line(node), reason)


def moves(tree: Tree, place: Place, first: cst.CSTNode) -> bool:
    """What the Estimator was given has another value where its loop would stand."""
    names = {n.value for n in walk(place.call) if isinstance(n, cst.Name)}
    start, end = tree.line(place.statement), tree.line(first)
    return any(
        start < tree.line(binding.node) < end
        for scope in tree.resolver.scopes.opened.values()
        for name in names & set(scope.bindings)
        for binding in scope.bindings[name]
        if tree.statement_in(binding.node, place.body) is not None
        or binding.node in place.body.body
    )


def changes(
    tree: Tree, nodes: Iterator[cst.CSTNode] | Sequence[cst.CSTNode]
) -> Iterator[tuple[cst.Name, cst.CSTNode]]:
    """The names whose objects are changed in place, and where."""
    for node in nodes:
        targets: list[cst.BaseExpression] = []
        if isinstance(node, cst.Assign):
            targets = [target.target for target in node.targets]
        elif isinstance(node, (cst.AugAssign, cst.AnnAssign, cst.Del)):
            targets = [node.target]
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            called = node.func.attr.value
            if called in _CHANGING and tree.symbol(node.func) is None:
                targets = [node.func]
        for target in targets:
            root = target
            while isinstance(root, (cst.Attribute, cst.Subscript)):
                root = root.value
            if isinstance(root, cst.Name) and root is not target:
                yield root, node


def _outlasts(tree: Tree, root: cst.Name, model_fn: cst.FunctionDef) -> bool:
    """The object was there before the model_fn is called, and is afterwards."""
    meant = tree.value(root)
    name = meant if isinstance(meant, cst.Name) else root
    if name.value in ("features", "labels", "self"):
        return False
    bindings = tree.resolver.bindings(name)
    if any(binding.kind is BindingKind.PARAMETER for binding in bindings):
        # A copy under the same name is the function's own.
        if len(bindings) != 1:
            return False
        # What helpers are given has other names where it is not the params.
        return bindings[0].scope.node is model_fn or name.value == "params"
    return any(
        binding.kind is not BindingKind.IMPORT
        and isinstance(binding.scope.node, cst.Module)
        for binding in bindings
    )


def _check_params(tree: Tree, place: Place, params: cst.Name) -> None:
    start, end = tree.line(place.statement), _last_use(tree, place)
    bindings = set(tree.resolver.bindings(params))
    for root, node in changes(tree, tree.nodes):
        same = bindings & set(tree.resolver.bindings(root))
        line = tree.line(node)
        if same and start < line <= end:
            reason = f"`{root.value}` changes after the Estimator took its copy"
            raise Blocked("TFM103", line, reason)


def _last_use(tree: Tree, place: Place) -> int:
    """The line until which the Estimator may be asked for something."""
    around = tree.function(place.call)
    if any(tree.function(use) is not around for use in place.uses):
        return _never(tree)
    return max(tree.end_line(use) for use in place.uses)


def _never(tree: Tree) -> int:
    return tree.end_line(tree.module)


def _check_globals(tree: Tree, place: Place, model_fn: cst.FunctionDef) -> None:
    """A name that the model_fn reads gets another value between two calls."""
    start, end = tree.line(place.statement), _last_use(tree, place)
    read = {
        binding
        for node in reachable(tree, [model_fn])
        if isinstance(node, cst.Name) and node in tree.resolver.scopes.loads
        for binding in tree.resolver.bindings(node)
        if binding.kind in (BindingKind.ASSIGN, BindingKind.OTHER)
        and model_fn not in tree.ancestors(binding.node)
    }
    for binding in read:
        if not start < tree.line(binding.node) < end:
            continue
        if tree.statement_in(binding.node, place.body) is not None:
            reason = f"model_fn: it reads `{binding.name}`, which changes between calls"
            raise Blocked("TFM103", tree.line(binding.node), reason)
