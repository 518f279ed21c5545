"""``x.get_shape()[1].value``: sizes in a TensorShape are plain numbers today."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..names.nodes import walk
from ..names.scopes import Scope
from ..project.text import Edit
from .base import Diagnosis, Rule
from .context import Context

RULE = Rule(
    id="TFM403",
    name="shape-dimension",
    summary="The .value of a size in a shape becomes tf.compat.dimension_value.",
    why=(
        "In TF 1 a shape holds `Dimension` objects, in TF 2 plain numbers, which have "
        "no `value`: the program stops with an AttributeError. "
        "`tf.compat.dimension_value` gives the number of either, so that the code "
        "also means the same where `tf.compat.v1.disable_v2_behavior()` is called."
    ),
    examples=(
        (
            "import tensorflow as tf\n\n\n"
            "def f(x):\n"
            "    n = x.get_shape()[-1].value\n"
            "    return tf.reshape(x, [-1, x.shape[1].value * n])\n",
            "import tensorflow as tf\n\n\n"
            "def f(x):\n"
            "    n = tf.compat.dimension_value(x.get_shape()[-1])\n"
            "    return tf.reshape(x, [-1, tf.compat.dimension_value(x.shape[1]) * n])\n",
        ),
        (
            "import tensorflow as tf\n\n\n"
            "def f(x):\n"
            "    shape = tf.identity(x).get_shape().with_rank(2)\n"
            "    return shape[0].value, shape.dims[1].value\n",
            "import tensorflow as tf\n\n\n"
            "def f(x):\n"
            "    shape = tf.identity(x).get_shape().with_rank(2)\n"
            "    return tf.compat.dimension_value(shape[0]), "
            "tf.compat.dimension_value(shape.dims[1])\n",
        ),
    ),
    noops=(
        "def f(x):\n    return x.shape[0].value\n",
        "import tensorflow as tf\n\n\ndef f(cells):\n    return cells[0].value\n",
        "import tensorflow as tf\n\n\n"
        "def f(x):\n    shape = x.get_shape().as_list()\n    return shape[0], x.value\n",
    ),
)

# Packages whose shapes hold numbers; `tf` of the compat layer is such a one, too.
_DOORS = ("tfmigrate.compat.v1", "tfmigrate.compat.v2")
_SAME_SHAPE = ("with_rank", "with_rank_at_least", "with_rank_at_most", "merge_with")


def diagnoses(context: Context) -> Iterator[tuple[cst.Attribute, Diagnosis]]:
    """Every such size of a module, and what to do about it."""
    if ".value" not in context.text or "shape" not in context.text:
        return
    for node in context.resolver.each(cst.Attribute):
        if (
            node.attr.value != "value"
            or not isinstance(node.value, cst.Subscript)
            or not _is_shape(node.value.value, context)
        ):
            continue
        scope = _scope(node, context)
        if scope is None:
            continue
        size = node.value
        spelled = _spelled(scope, context)
        end = context.outer_span(size)[1]
        edits = (
            context.insert_before(size, f"{spelled}("),
            Edit(end, context.span(node)[1], ")"),
        )
        yield (
            node,
            Diagnosis(RULE.id, "sizes in a shape are numbers today", edits=edits),
        )


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


def _scope(node: cst.CSTNode, context: Context) -> Scope | None:
    """The scope an expression stands in, as the first name in it tells."""
    loads = context.resolver.scopes.loads
    for name in walk(node, cst.Name):
        if name in loads:
            return loads[name][0]
    return None


def _spelled(scope: Scope, context: Context) -> str:
    module = context.resolver.scopes.module_scope
    for name, bound in module.bindings.items():
        if len(bound) == 1 and bound[0].target in _DOORS:
            return f"{name}.compat.dimension_value"
    return context.spell("tf.compat.dimension_value", scope)
