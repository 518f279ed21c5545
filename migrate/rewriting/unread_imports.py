"""Imports that a rewrite left without a reader."""

from __future__ import annotations

import os
import re
from pathlib import Path

import libcst as cst

from ..emit.module.imports import drop_unused_imports
from ..project.facts import ParsedModule, ProjectFacts
from ..symbols.dotted import import_path
from ..symbols.scopes import BindingKind, ScopeTree

__all__ = ["without_unread_imports"]


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
    left = drop_unused_imports(before.source.module, after.source.module, only=unread)
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
