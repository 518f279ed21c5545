"""``tf.contrib.training.HParams`` as a small class of the program's own."""

from __future__ import annotations

import libcst as cst

from ...plan.code.tree import Statement, Tree, walk
from ...project.parsing import parse
from ..module.imports import add_imports
from ..module.names import rename
from ..module.spacing import with_blank_lines
from ..module.template import Filling, fill, parse_statements
from .model_class import finished_class

__all__ = ["own_hparams"]

_SYMBOL = "tf.contrib.training.HParams"
_METHODS = ("add_hparam", "get", "parse", "to_json", "values")
# These are not written out: the name stays, with a note.
_OTHER = (
    "del_hparam",
    "from_proto",
    "get_model_structure",
    "override_from_dict",
    "parse_json",
    "set_from_map",
    "set_hparam",
    "set_model_structure",
    "to_proto",
)
_PACKAGES = {"parse": "re", "to_json": "json"}


def own_hparams(module: cst.Module, tree: Tree) -> cst.Module | None:
    """The module with a class of its own, or None where HParams cannot go.

    The class has every method whose name the module calls on anything.
    """
    mentions = [
        node
        for node in walk(module)
        if isinstance(node, (cst.Name, cst.Attribute))
        and tree.symbol(node) == _SYMBOL
        and not _is_part(tree, node)
    ]
    calls = [tree.parent(node) for node in mentions]
    if not mentions or not all(
        _is_plain(call, node) for call, node in zip(calls, mentions, strict=True)
    ):
        return None
    named = {
        node.attr.value
        for node in walk(module)
        if isinstance(node, cst.Attribute) and tree.resolver.qualified(node) is None
    }
    if named & set(_OTHER):
        return None
    asked = [name for name in _METHODS if name in named]
    contains = any(
        isinstance(node, cst.ComparisonTarget)
        and isinstance(node.operator, (cst.In, cst.NotIn))
        for node in walk(module)
    )
    name = "HParams"
    taken = set(tree.resolver.scopes.module_scope.bindings)
    while name in taken:
        name = f"{name}_"
    flags = {f"X_{method.upper()}": method in asked for method in _METHODS}
    filling = Filling(flags={**flags, "X_CONTAINS": contains})
    (made,) = fill("hparams", "hparams", filling)
    (made,) = parse_statements(rename(cst.Module([made]).code, {"HParams": name}))
    first = tree.statement_in(mentions[0], module)
    assert first is not None
    made = with_blank_lines(finished_class(module, made, None), 2)
    changed = module.visit(_Own(set(mentions), name, first, made))
    assert isinstance(changed, cst.Module)
    packages = {"types", *(_PACKAGES[m] for m in asked if m in _PACKAGES)}
    changed = parse(changed.bytes)
    return add_imports(changed, [p for p in packages if not _has(module, p)], [])


def _is_part(tree: Tree, node: cst.CSTNode) -> bool:
    """The last name of a longer expression, or a name that is imported."""
    holder = tree.parent(node)
    return (isinstance(holder, cst.Attribute) and holder.attr is node) or isinstance(
        holder, (cst.ImportAlias, cst.AsName)
    )


def _is_plain(call: cst.CSTNode | None, function: cst.CSTNode) -> bool:
    """``HParams(units=8, ...)``, or ``HParams(**settings)``."""
    return (
        isinstance(call, cst.Call)
        and call.func is function
        and all(
            argument.star == "**"
            if argument.keyword is None
            else argument.keyword.value not in ("hparam_def", "model_structure")
            for argument in call.args
        )
    )


def _has(module: cst.Module, package: str) -> bool:
    return any(
        isinstance(node, cst.Import)
        and any(
            alias.name.value == package and not alias.asname for alias in node.names
        )
        for node in walk(module)
    )


class _Own(cst.CSTTransformer):
    def __init__(
        self,
        mentions: set[cst.CSTNode],
        name: str,
        first: cst.CSTNode,
        made: Statement,
    ) -> None:
        self.mentions = mentions
        self.name = name
        self.first = first
        self.made = made

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        if original_node in self.mentions:
            return cst.Name(self.name)  # type: ignore[return-value]
        if original_node is self.first:
            lines = [line for line in updated_node.leading_lines if line.comment]  # type: ignore[attr-defined]
            blank = [cst.EmptyLine(indent=False), cst.EmptyLine(indent=False)]
            new = updated_node.with_changes(leading_lines=[*blank, *lines])
            return cst.FlattenSentinel([self.made, new])  # type: ignore[list-item]
        return super().on_leave(original_node, updated_node)
