"""Sizes of tensors as plain numbers, which they are since TF 2.

``x.shape[-1].value`` took a number out of a ``Dimension``; today the number stands
there itself.
"""

from __future__ import annotations

import libcst as cst

from ..code.tree import Tree, walk

__all__ = ["without_dimensions"]


def without_dimensions(tree: Tree) -> cst.Module | None:
    """The module without ``.value`` behind sizes, or None where there is none."""
    if not any(_is_dimension(node) for node in walk(tree.module)):
        return None
    module = tree.module.visit(_Numbers())
    assert isinstance(module, cst.Module)
    return module


def _is_dimension(node: cst.CSTNode) -> bool:
    """``x.shape[1].value`` or ``x.get_shape()[1].value``."""
    if not isinstance(node, cst.Attribute) or node.attr.value != "value":
        return False
    size = node.value
    if not isinstance(size, cst.Subscript) or len(size.slice) != 1:
        return False
    if not isinstance(size.slice[0].slice, cst.Index):
        return False
    shape = size.value
    if isinstance(shape, cst.Call):
        return (
            isinstance(shape.func, cst.Attribute)
            and shape.func.attr.value == "get_shape"
            and not shape.args
        )
    return isinstance(shape, cst.Attribute) and shape.attr.value == "shape"


class _Numbers(cst.CSTTransformer):
    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        return updated_node.value if _is_dimension(original_node) else updated_node
