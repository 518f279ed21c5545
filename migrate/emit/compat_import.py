"""The safe landing: a program keeps its Estimator and imports tfmigrate.compat."""

from __future__ import annotations

import textwrap

import libcst as cst

from ..plan.tree import Statement, Tree, walk

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


def use_compat(tree: Tree, flavour: str) -> cst.Module:
    """The module with every import of TensorFlow turned to the clone."""
    edited = tree.module.visit(_Imports(flavour))
    assert isinstance(edited, cst.Module)
    return edited


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


def _dotted(node: cst.CSTNode | None) -> str:
    if isinstance(node, cst.Attribute):
        return f"{_dotted(node.value)}.{node.attr.value}"
    return node.value if isinstance(node, cst.Name) else ""


class _Imports(cst.CSTTransformer):
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

    def leave_Import(
        self, original_node: cst.Import, updated_node: cst.Import
    ) -> cst.Import:
        names = []
        for alias in updated_node.names:
            dotted = _dotted(alias.name)
            moved = self.moved(dotted)
            if moved is None:
                names.append(alias)
                continue
            if alias.asname is None:
                # ``import tensorflow.contrib.slim`` binds the name tensorflow.
                moved = self.flavour
                name = cst.Name("tensorflow")
                alias = alias.with_changes(asname=cst.AsName(name=name))
            names.append(alias.with_changes(name=cst.parse_expression(moved)))
        return updated_node.with_changes(names=names)

    def leave_ImportFrom(
        self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom
    ) -> cst.ImportFrom:
        if updated_node.relative or updated_node.module is None:
            return updated_node
        moved = self.moved(_dotted(updated_node.module))
        if moved is None:
            return updated_node
        if isinstance(updated_node.names, cst.ImportStar):
            raise CannotImport(f"{_dotted(updated_node.module)}.*")
        return updated_node.with_changes(module=cst.parse_expression(moved))
