"""The safe landing: a program keeps its Estimator and imports tfmigrate.compat."""

from __future__ import annotations

import textwrap
from functools import partial

import libcst as cst

from ...plan.code.tree import Statement, Tree, walk
from ...symbols.dotted import import_path
from ...symbols.names import canonical
from ...symbols.table import is_known, is_private_module
from .edits import Edits

__all__ = ["MARK", "CannotImport", "compat_flavour", "note", "use_compat"]

MARK = "TODO(tfmigrate)"


class CannotImport(ValueError):
    """An import whose names tfmigrate.compat does not offer under that path."""


def compat_flavour(tree: Tree) -> str:
    """Which clone a module needs: that of TF 1.15 or that of TF 2.15.

    A program that writes ``tf.compat.v1.`` itself was written for TF 2.
    """
    for node in walk(tree.module):
        if (
            isinstance(node, cst.Attribute)
            and node.attr.value == "v1"
            and tree.resolver.qualified(node) == "tensorflow.compat.v1"
        ):
            return "tfmigrate.compat.v2"
    return "tfmigrate.compat.v1"


def use_compat(tree: Tree, flavour: str) -> Edits:
    """Edits that turn every import of TensorFlow to the clone."""
    edits, imports = Edits(), _Imports(flavour)
    for use in tree.resolver.scopes.imports:
        moved = imports.moved_import(use.node)
        if moved is not use.node:
            edits.nodes[use.node] = partial(_put, moved)
    return edits


def _put(new: cst.CSTNode, old: cst.CSTNode) -> cst.CSTNode:
    return new


def note(statement: Statement, rule: str, reason: str, indent: int) -> Statement:
    """The statement under a note, unless it has one of that rule already."""
    for line in statement.leading_lines:
        if line.comment is not None and f"{MARK}: {rule}" in line.comment.value:
            return statement
    wrapped = textwrap.wrap(
        f"{MARK}: {rule} {reason}; see `tfmigrate explain {rule}`",
        max(40, 86 - indent),
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    lines = [cst.EmptyLine(comment=cst.Comment(f"# {text}")) for text in wrapped]
    return statement.with_changes(leading_lines=[*statement.leading_lines, *lines])


class _Imports:
    def __init__(self, flavour: str) -> None:
        self.flavour = flavour

    def moved(self, dotted: str) -> str | None:
        """The clone's path for a path of TensorFlow, or None for other packages."""
        if dotted.split(".")[0] == "tensorflow_estimator":
            raise CannotImport(dotted)
        for root in ("tensorflow.compat.v1", "tensorflow"):
            if dotted == root:
                return "tfmigrate.compat.v1" if "v1" in root else self.flavour
            if dotted.startswith(root + "."):
                rest = dotted[len(root) + 1 :]
                if rest.split(".")[:2] == ["python", "keras"]:
                    rest = rest.removeprefix("python.")
                if rest.startswith(("python", "core", "examples", "tools")):
                    raise CannotImport(dotted)
                base = "tfmigrate.compat.v1" if "v1" in root else self.flavour
                return f"{base}.{rest}"
        return None

    def moved_import(
        self, node: cst.Import | cst.ImportFrom
    ) -> cst.Import | cst.ImportFrom:
        """The import of the clone, or the same node for other packages."""
        if isinstance(node, cst.ImportFrom):
            return self._from(node)
        names = []
        for alias in node.names:
            dotted = import_path(alias.name)
            if alias.asname is not None and is_private_module(dotted):
                names.append(alias)  # TensorFlow has it as it had it
                continue
            moved = self.moved(dotted)
            if moved is not None:
                if alias.asname is None:
                    # ``import tensorflow.contrib.slim`` binds the name tensorflow.
                    moved = self.flavour
                    name = cst.Name("tensorflow")
                    alias = alias.with_changes(asname=cst.AsName(name=name))
                alias = alias.with_changes(name=cst.parse_expression(moved))
            names.append(alias)
        if all(new is old for new, old in zip(names, node.names, strict=True)):
            return node
        return node.with_changes(names=names)

    def _public(self, node: cst.ImportFrom) -> str | None:
        """The clone's path for names of a private module that are public too.

        ``from tensorflow.python.estimator.model_fn import EstimatorSpec``.
        """
        module = import_path(node.module)
        if "python" not in module.split(".") or isinstance(node.names, cst.ImportStar):
            return None
        homes = set()
        for alias in node.names:
            name = import_path(alias.name)
            found = canonical(f"{module}.{name}")
            if found is None:
                return None
            home, _, last = found.rpartition(".")
            if last != name or not home or not is_known(found):
                return None
            homes.add(home)
        if len(homes) != 1:
            return None
        return self.flavour + homes.pop().removeprefix("tf")

    def _from(self, node: cst.ImportFrom) -> cst.ImportFrom:
        if node.relative or node.module is None:
            return node
        module = import_path(node.module)
        if not isinstance(node.names, cst.ImportStar) and all(
            is_private_module(f"{module}.{import_path(alias.name)}")
            for alias in node.names
        ):
            return node  # modules that TensorFlow has as it had them
        moved = self._public(node) or self.moved(module)
        if moved is None:
            return node
        if isinstance(node.names, cst.ImportStar):
            raise CannotImport(f"{import_path(node.module)}.*")
        return node.with_changes(module=cst.parse_expression(moved))
