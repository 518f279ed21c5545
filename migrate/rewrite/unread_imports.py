"""Imports that a rewrite left without a reader."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import cast

import libcst as cst

from ..names.dotted import import_path
from ..names.nodes import children
from ..names.scopes import BindingKind, ScopeTree
from ..project.facts import ParsedModule, ProjectFacts


def without_unread_imports(
    before: ParsedModule, after: ParsedModule, facts: ProjectFacts
) -> cst.Module | None:
    """The rewritten file without them; None where there are none to drop.

    An import that nobody read before stays: it was there for its effect, or for
    others. So does what another file takes from this one.
    """
    if after.is_package or after.source.notebook is not None:
        return None
    gone = _read(before.resolver.scopes) - _read(after.resolver.scopes)
    bound = after.resolver.scopes.module_scope.bindings
    unread = {
        name
        for name in gone
        if any(one.kind is BindingKind.IMPORT for one in bound.get(name, ()))
    }
    if not unread or any(
        _takes(user, unread, after.path, facts) for user in facts.importers(after.path)
    ):
        return None
    left = _without(unread, before.source.module, after.source.module)
    first = left.body[0] if left.body else None
    if before.source.module.header or not isinstance(
        first, cst.SimpleStatementLine | cst.BaseCompoundStatement
    ):
        return left
    lines = list(first.leading_lines)
    while lines and lines[0].comment is None:
        del lines[0]  # the file does not begin with what stood below the import
    first = first.with_changes(leading_lines=lines)
    return left.with_changes(body=[first, *left.body[1:]])


def _read(scopes: ScopeTree) -> set[str]:
    return {node.value for node in scopes.loads}


def _takes(user: Path, names: set[str], path: Path, facts: ProjectFacts) -> bool:
    """Whether a file that imports this one may take such a name from it."""
    parsed = facts.parsed(user)
    if parsed is None:
        return True
    either = "|".join(map(re.escape, sorted(names)))
    if re.search(rf"\.({either})\b", parsed.source.text):
        return True
    for use in parsed.resolver.scopes.imports:
        node = use.node
        if not isinstance(node, cst.ImportFrom):
            continue
        if not isinstance(node.names, cst.ImportStar) and not any(
            alias.evaluated_name in names for alias in node.names
        ):
            continue
        module = import_path(node.module) if node.module else ""
        dotted = parsed.resolver.absolute(module, len(node.relative))
        found = facts.locate(dotted, user) if dotted else None
        if found is not None and os.path.samefile(found, path):
            return True
    return False


def _without(
    names: Collection[str], before: cst.Module, after: cst.Module
) -> cst.Module:
    """The module without imports and aliases of these names that nothing reads now."""
    used = _used_names(before)
    for _ in range(3):
        # An alias that goes may have been the last to use an import.
        drop = _DropImports((used - _used_names(after)).intersection(names))
        dropped = after.visit(drop)
        assert isinstance(dropped, cst.Module)
        if not drop.changed:
            break
        after = dropped
    return after


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
