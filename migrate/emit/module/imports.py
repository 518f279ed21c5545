"""Imports of a rewritten module: what it needs now, and what it needs no more."""

from __future__ import annotations

import sys
from collections.abc import Container, Iterable, Sequence
from typing import cast

import libcst as cst

from ...symbols.dotted import import_path
from ...symbols.nodes import children

__all__ = ["add_imports", "drop_unused_imports", "imported_as"]


def imported_as(module: cst.Module, target: str) -> str | None:
    """The name a module-level ``import target`` is bound to, if there is one."""
    for statement in module.body:
        if not isinstance(statement, cst.SimpleStatementLine):
            continue
        for small in statement.body:
            if not isinstance(small, cst.Import):
                continue
            for alias in small.names:
                if import_path(alias.name) == target:
                    if alias.asname is None:
                        return target
                    if isinstance(alias.asname.name, cst.Name):
                        return alias.asname.name.value
    return None


def add_imports(
    module: cst.Module, standard: Iterable[str], other: Iterable[str]
) -> cst.Module:
    """Put ``import x`` lines where a person would: among their own kind.

    ``standard`` and ``other`` hold text after ``import``: modules of Python
    itself, and installed ones.
    """
    for text in sorted(set(standard)):
        module = _insert(module, text, standard=True)
    for text in sorted(set(other)):
        module = _insert(module, text, standard=False)
    return module


def _insert(module: cst.Module, text: str, *, standard: bool) -> cst.Module:
    statement = cst.parse_module(f"import {text}\n").body[0]
    assert isinstance(statement, cst.SimpleStatementLine)
    name = text.split(" ")[0]
    body = list(module.body)
    last: int | None = None  # the plain import after which the new one sorts
    first: int | None = None
    for index, found in enumerate(body[: _head(body)]):
        imported = _plain_import(found)
        if imported is None:
            continue
        is_standard = imported.split(".")[0] in sys.stdlib_module_names
        if imported == "__future__" or is_standard is not standard:
            continue
        if isinstance(found, cst.SimpleStatementLine) and isinstance(
            found.body[0], cst.ImportFrom
        ):
            continue
        if first is None:
            first = index
        if imported.lower() <= name.lower():
            last = index
    if last is not None:
        body.insert(last + 1, statement)
    elif first is not None:
        lines = body[first].leading_lines
        body[first] = body[first].with_changes(leading_lines=[])
        body.insert(first, statement.with_changes(leading_lines=lines))
    else:
        place = _place(body, standard=standard)
        lines = []
        if place < len(body):
            following = body[place]
            lines = list(following.leading_lines)
            spaced = following.with_changes(
                leading_lines=[cst.EmptyLine(indent=False)]
                if _plain_import(following) is not None
                else lines
            )
            body[place] = spaced
            if _plain_import(following) is None:
                lines = [cst.EmptyLine(indent=False)]
        body.insert(place, statement.with_changes(leading_lines=lines))
    return module.with_changes(body=body)


def _head(body: Sequence[cst.CSTNode]) -> int:
    """Where the first definition stands, before which a module imports."""
    for index, statement in enumerate(body):
        if isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            return index
    return len(body)


def _place(body: Sequence[cst.CSTNode], *, standard: bool) -> int:
    """Where imports of a kind begin when the module has none of them."""
    place = 0
    for index, statement in enumerate(body[: _head(body)]):
        imported = _plain_import(statement)
        if index == 0 and _is_docstring(statement):
            place = 1
        elif imported == "__future__" or (imported is not None and not standard):
            place = index + 1
    return place


def _is_docstring(statement: cst.CSTNode) -> bool:
    return (
        isinstance(statement, cst.SimpleStatementLine)
        and isinstance(statement.body[0], cst.Expr)
        and isinstance(statement.body[0].value, cst.SimpleString)
    )


def _plain_import(statement: cst.CSTNode) -> str | None:
    if not isinstance(statement, cst.SimpleStatementLine) or not statement.body:
        return None
    small = statement.body[0]
    if isinstance(small, cst.Import):
        return import_path(small.names[0].name)
    if isinstance(small, cst.ImportFrom) and small.module is not None:
        return import_path(small.module)
    return None


def _used_names(module: cst.Module) -> set[str]:
    used: set[str] = set()
    pending: list[cst.CSTNode] = [module]
    while pending:
        node = pending.pop()
        kind = node.__class__
        if kind is cst.Name:
            used.add(cast(cst.Name, node).value)
            continue
        if kind is cst.Import or kind is cst.ImportFrom:
            continue
        if kind is cst.Assign and _alias(node) is not None:
            node = cast(cst.Assign, node).value  # layers = tf.layers only reads tf
            kind = node.__class__
        if kind is cst.Attribute or kind is cst.Arg:
            # What follows a dot, or names an argument, is something of another object.
            pending.append(cast("cst.Attribute | cst.Arg", node).value)
            continue
        if kind is cst.SimpleString:
            # __all__ and string annotations name things too.
            used.add(cast(cst.SimpleString, node).value.strip("\"'"))
        pending += children(node)
    return used


def _alias(node: cst.CSTNode) -> str | None:
    """The name that ``name = some.attribute`` gives."""
    if (
        isinstance(node, cst.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0].target, cst.Name)
        and isinstance(node.value, cst.Attribute)
    ):
        return node.targets[0].target.value
    return None


def drop_unused_imports(
    before: cst.Module,
    after: cst.Module,
    dead: Iterable[str] = (),
    only: Container[str] | None = None,
) -> cst.Module:
    """Remove imports and aliases that the rewrite made useless, and only those.

    ``dead`` are names of imports that would fail: they go if nothing uses them.
    With ``only`` no other name goes.
    """
    used = _used_names(before) | set(dead)
    for _ in range(3):
        # An alias that goes may have been the last to use an import.
        gone = used - _used_names(after)
        if only is not None:
            gone = {name for name in gone if name in only}
        drop = _DropImports(gone)
        dropped = after.visit(drop)
        assert isinstance(dropped, cst.Module)
        if not drop.changed:
            break
        after = dropped
    return after


_HOLDERS = (
    cst.Module,
    cst.IndentedBlock,
    cst.BaseCompoundStatement,
    cst.Else,
    cst.Finally,
    cst.ExceptHandler,
    cst.ExceptStarHandler,
    cst.MatchCase,
)


class _DropImports(cst.CSTTransformer):
    def __init__(self, gone: set[str]) -> None:
        self.gone = gone
        # Whether a blank line went with what stood before the next statement.
        self.parted = False
        self.changed = False

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.BaseCompoundStatement):
            self.parted = False
        # Only what can hold a statement is worth going into.
        return isinstance(node, _HOLDERS)

    def leave_SimpleStatementLine(
        self,
        original_node: cst.SimpleStatementLine,
        updated_node: cst.SimpleStatementLine,
    ) -> cst.SimpleStatementLine | cst.RemovalSentinel:
        left = self._left(original_node, updated_node)
        self.changed |= left is not updated_node
        lines = original_node.leading_lines
        if isinstance(left, cst.RemovalSentinel):
            self.parted |= any(line.comment is None for line in lines)
            return left
        if self.parted and not lines:
            left = left.with_changes(leading_lines=[cst.EmptyLine(indent=False)])
        self.parted = False
        return left

    def _left(
        self,
        original_node: cst.SimpleStatementLine,
        updated_node: cst.SimpleStatementLine,
    ) -> cst.SimpleStatementLine | cst.RemovalSentinel:
        if len(original_node.body) != 1:
            return updated_node
        small = original_node.body[0]
        names: Sequence[cst.ImportAlias]
        if isinstance(small, cst.Import):
            names = small.names
        elif isinstance(small, cst.ImportFrom) and not isinstance(
            small.names, cst.ImportStar
        ):
            if small.module is not None and import_path(small.module) == "__future__":
                return updated_node
            names = small.names
        else:
            if _alias(small) in self.gone:
                return cst.RemoveFromParent()
            return updated_node
        kept = [a for a in names if _bound(a) not in self.gone]
        if len(kept) == len(names):
            return updated_node
        if not kept:
            return cst.RemoveFromParent()
        kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return updated_node.with_changes(body=[small.with_changes(names=kept)])


def _bound(alias: cst.ImportAlias) -> str:
    if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
        return alias.asname.name.value
    return import_path(alias.name).split(".")[0]
