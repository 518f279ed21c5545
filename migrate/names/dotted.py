"""Dotted names as text."""

from __future__ import annotations

import libcst as cst


def dotted_name(node: cst.CSTNode) -> str | None:
    """The dotted text of a Name or Attribute chain, or None for anything else."""
    parts: list[str] = []
    while isinstance(node, cst.Attribute):
        parts.append(node.attr.value)
        node = node.value
    if not isinstance(node, cst.Name):
        return None
    parts.append(node.value)
    return ".".join(reversed(parts))


def dotted_node(text: str) -> cst.Name | cst.Attribute:
    """The chain that a dotted text is."""
    first, *rest = text.split(".")
    node: cst.Name | cst.Attribute = cst.Name(first)
    for name in rest:
        node = cst.Attribute(node, cst.Name(name))
    return node


def imported_names(node: cst.Import | cst.ImportFrom) -> list[str]:
    """The dotted paths of what an absolute import names; of a ``*`` the module's."""
    if isinstance(node, cst.Import):
        return [import_path(alias.name) for alias in node.names]
    if node.relative or node.module is None:
        return []
    module = import_path(node.module)
    if isinstance(node.names, cst.ImportStar):
        return [module]
    return [f"{module}.{import_path(alias.name)}" for alias in node.names]


def import_path(node: cst.CSTNode | None) -> str:
    """The dotted text of what an import names; empty for ``from . import``."""
    return "" if node is None else dotted_name(node) or ""
