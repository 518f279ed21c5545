"""A file of a program whose model functions are lifted."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field

import libcst as cst

from ...code.edits import Changed, Edits
from ...code.tree import Tree
from ...model.notes import Notes
from ...names.scopes import BindingKind
from ...project.facts import ParsedModule, ProjectFacts
from .taken import Helper


@dataclass
class File:
    """A file of the group, its edits, and the names that it takes."""

    parsed: ParsedModule
    tree: Tree
    edits: Edits = field(default_factory=Edits)
    # Names imported from other files: node of the import -> (function, class).
    imports: dict[cst.ImportFrom, dict[str, str]] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    # Functions that stay beside the classes made of them.
    kept: set[cst.CSTNode] = field(default_factory=set)


@dataclass
class Lifted:
    """What is being done to the files of a program."""

    facts: ProjectFacts
    # By their absolute paths.
    files: dict[str, File]
    notes: Notes
    # Functions that became classes, and the calls of each.
    helpers: dict[cst.CSTNode, Helper] = field(default_factory=dict)
    called: dict[cst.CSTNode, list[cst.Call]] = field(default_factory=dict)
    # Functions whose layers are lifted where they stand, once that is done.
    standing: set[cst.CSTNode] = field(default_factory=set)
    # The model functions that are lifted, which are nobody's layers.
    model_functions: frozenset[cst.CSTNode] = frozenset()

    def file_of(self, module: ParsedModule) -> File | None:
        """The program's file of a module."""
        return self.files.get(os.path.abspath(module.path))


def import_text(node: cst.ImportFrom) -> str:
    """An import as text."""
    return cst.Module([cst.SimpleStatementLine([node])]).code


def tensorflow_of(file: File) -> str | None:
    """The name of TensorFlow in a file."""
    for name, bound in file.tree.resolver.scopes.module_scope.bindings.items():
        # One of several imports, as under `try`, is as good as another.
        imported = all(one.kind is BindingKind.IMPORT for one in bound)
        if imported and file.tree.resolver.exported(name) in (
            "tensorflow",
            "tensorflow.compat.v1",
        ):
            return name
    return None


def imported(
    file: File, statement: cst.ImportFrom, names: dict[str, str]
) -> Callable[[cst.CSTNode], Changed]:
    def change(node: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(node, cst.ImportFrom)
        assert not isinstance(node.names, cst.ImportStar)
        kept = []
        for one in node.names:
            local = one.asname.name if one.asname is not None else one.name
            name = local.value if isinstance(local, cst.Name) else ""
            if name in names and not is_read(file, name):
                continue
            kept.append(one)
        kept += [cst.ImportAlias(cst.Name(one)) for one in sorted(set(names.values()))]
        kept = [one.with_changes(comma=cst.MaybeSentinel.DEFAULT) for one in kept]
        return node.with_changes(names=kept)

    return change


def is_read(file: File, name: str) -> bool:
    """A name is read by what stays."""
    replaced = set(file.edits.replace) - file.kept
    for node in file.tree.loads(name):
        above = {node, *file.tree.ancestors(node)}
        if not above & replaced:
            return True
    return False
