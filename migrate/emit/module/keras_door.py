"""Sends a module's ``tf.keras`` to tf_keras, the Keras that TF1 programs used.

Since TF 2.16 ``tf.keras`` is Keras 3, whose layers name and initialise their
variables differently. The package tf_keras is the old one, kept alive.
"""

from __future__ import annotations

import libcst as cst

from ...plan.code.tree import walk
from ...symbols.dotted import import_path
from ...symbols.resolver import Resolver
from .edits import Changed, Edits
from .imports import add_imports

__all__ = ["use_tf_keras"]

# Packages whose `keras` it is, and that package where it is written at length.
_PACKAGES = ("tensorflow", "tensorflow.compat.v1", "tensorflow.compat.v2")
_ROOTS = (*(f"{package}.keras" for package in _PACKAGES), "tensorflow.python.keras")


def use_tf_keras(module: cst.Module, resolver: Resolver) -> cst.Module:
    """The module with every door to ``tf.keras`` leading to ``tf_keras``."""
    local = _local_name(module)
    changed: dict[cst.CSTNode, cst.BaseExpression] = {}
    _collect(module, resolver, changed, local or "tf_keras")
    edits, imports = Edits(expressions=changed), _Imports()
    for use in resolver.scopes.imports:
        line = use.statement
        if isinstance(line, cst.SimpleStatementLine) and imports.line(line) is not line:
            edits.nodes[line] = imports.line
    if not changed and not edits.nodes:
        return module
    edited = edits.apply(module)
    if changed and local is None:
        edited = add_imports(edited, (), ("tf_keras",))
    return edited


def _local_name(module: cst.Module) -> str | None:
    """The name under which the module will see tf_keras without a new import."""
    for statement in module.body:
        if not isinstance(statement, cst.SimpleStatementLine):
            continue
        for small in statement.body:
            if isinstance(small, cst.Import):
                for alias in small.names:
                    dotted = import_path(alias.name)
                    if dotted in ("tf_keras", *_ROOTS) and alias.asname:
                        assert isinstance(alias.asname.name, cst.Name)
                        return alias.asname.name.value
                    if dotted == "tf_keras":
                        return dotted
            if (
                isinstance(small, cst.ImportFrom)
                and small.module is not None
                and import_path(small.module) in _PACKAGES
                and not isinstance(small.names, cst.ImportStar)
            ):
                for alias in small.names:
                    if import_path(alias.name) == "keras":
                        if alias.asname is None:
                            return "keras"
                        assert isinstance(alias.asname.name, cst.Name)
                        return alias.asname.name.value
    return None


def _collect(
    module: cst.Module,
    resolver: Resolver,
    changed: dict[cst.CSTNode, cst.BaseExpression],
    local: str,
) -> None:
    """Note every expression that is exactly ``tf.keras`` under some alias of tf."""
    for node in walk(module):
        if (
            isinstance(node, cst.Attribute)
            and node.attr.value == "keras"
            and resolver.resolve(node) == "tf.keras"
            and resolver.resolve(node.value) == "tf"
        ):
            changed[node] = cst.parse_expression(local)


class _Imports:
    """Import statements that name tensorflow.keras, turned to tf_keras."""

    def line(self, node: cst.CSTNode) -> Changed:
        """The line, or what stands in for it."""
        if not isinstance(node, cst.SimpleStatementLine) or len(node.body) != 1:
            return node
        small = node.body[0]
        if isinstance(small, cst.Import) and len(small.names) == 1:
            alias = small.names[0]
            dotted = import_path(alias.name)
            if alias.asname is not None and _below_keras(dotted):
                name = cst.parse_expression(_moved(dotted))
                return node.with_changes(
                    body=[small.with_changes(names=[alias.with_changes(name=name)])]
                )
        if (
            isinstance(small, cst.ImportFrom)
            and small.module is not None
            and not small.relative
        ):
            dotted = import_path(small.module)
            if _below_keras(dotted):
                moved = cst.parse_expression(_moved(dotted))
                return node.with_changes(body=[small.with_changes(module=moved)])
            if dotted in _PACKAGES and not isinstance(small.names, cst.ImportStar):
                return self._from_tensorflow(node, small)
        return node

    def _from_tensorflow(
        self, node: cst.SimpleStatementLine, small: cst.ImportFrom
    ) -> cst.SimpleStatementLine | cst.FlattenSentinel[cst.SimpleStatementLine]:
        assert not isinstance(small.names, cst.ImportStar)
        keras = [a for a in small.names if import_path(a.name) == "keras"]
        if not keras:
            return node
        name = (
            keras[0].asname.name if keras[0].asname is not None else cst.Name("keras")
        )
        assert isinstance(name, cst.Name)
        line = cst.parse_module(f"import tf_keras as {name.value}\n").body[0]
        assert isinstance(line, cst.SimpleStatementLine)
        line = line.with_changes(trailing_whitespace=node.trailing_whitespace)
        rest = [a for a in small.names if a is not keras[0]]
        if not rest:
            return line.with_changes(leading_lines=node.leading_lines)
        rest[-1] = rest[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        kept = node.with_changes(body=[small.with_changes(names=rest)])
        return cst.FlattenSentinel([kept, line])


def _below_keras(dotted: str) -> bool:
    return _moved(dotted) != dotted


def _moved(dotted: str) -> str:
    for root in _ROOTS:
        if dotted == root or dotted.startswith(root + "."):
            return "tf_keras" + dotted[len(root) :]
    return dotted
