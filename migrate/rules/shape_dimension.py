"""``x.get_shape()[1].value``: sizes in a TensorShape are plain numbers today."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..project.text import Edit
from .base import Diagnosis
from .context import Context

RULE = "TFM403"

# Packages whose shapes hold numbers; `tf` of the compat layer is such a one, too.
_DOORS = ("tfmigrate.compat.v1", "tfmigrate.compat.v2")
_SAME_SHAPE = ("with_rank", "with_rank_at_least", "with_rank_at_most", "merge_with")


def diagnoses(context: Context) -> Iterator[tuple[cst.CSTNode, Diagnosis]]:
    """Every such size of a module, and what to do about it."""
    if ".value" not in context.text or "shape" not in context.text:
        return
    if not context.knows_tensorflow and "tfmigrate.compat" not in context.text:
        return
    for node in context.resolver.each(cst.Attribute):
        size = node.value
        if (
            node.attr.value == "value"
            and isinstance(size, cst.Subscript)
            and _is_shape(size.value, context)
        ):
            end = context.outer_span(size)[1]
            edits = (
                context.insert_before(size, f"{_spelled(size, context)}("),
                Edit(end, context.span(node)[1], ")"),
            )
            yield node, Diagnosis(RULE, "sizes in a shape are numbers today", edits)


def _is_shape(node: cst.BaseExpression, context: Context) -> bool:
    """Whether an expression is seen to be the static shape of a tensor."""
    if isinstance(node, cst.Name):
        bound = context.resolver.bindings(node)
        value = bound[0].value if len(bound) == 1 else None
        return value is not None and _is_shape(value, context)
    if isinstance(node, cst.Attribute):
        if node.attr.value == "dims":
            return _is_shape(node.value, context)
        return node.attr.value == "shape"
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        name = node.func.attr.value
        if name in _SAME_SHAPE:
            return _is_shape(node.func.value, context)
        return name == "get_shape"
    return False


def _spelled(size: cst.Subscript, context: Context) -> str:
    module = context.resolver.scopes.module_scope
    for name, bound in module.bindings.items():
        if len(bound) == 1 and bound[0].target in _DOORS:
            return f"{name}.compat.dimension_value"
    return context.spell("tf.compat.dimension_value", context.scope_of(size))
