"""``tf.image.per_image_standardization``: TF 1.15 gave an image of bytes back as bytes.

https://www.tensorflow.org/api_docs/python/tf/image/per_image_standardization
"""

from __future__ import annotations

import libcst as cst

from .base import Diagnosis, SymbolUse, advised
from .context import Context

RULE = "TFM212"

# What these give is float, unless they are told a type that is not.
_FLOATS = frozenset(
    {
        "tf.to_float",
        "tf.image.convert_image_dtype",
        "tf.image.per_image_standardization",
        "tf.image.resize",
        "tf.image.resize_area",
        "tf.image.resize_bicubic",
        "tf.image.resize_bilinear",
        "tf.image.resize_images",
    }
)


def check(use: SymbolUse, context: Context) -> Diagnosis | None:
    """Say so, unless the image is seen to be float."""
    if use.call is None or not use.call.args:
        return None
    if _is_float(use.call.args[0].value, context, set()):
        return None
    return advised(
        RULE,
        f"`{use.symbol}` gives floats; TF 1.14 and 1.15 gave an image of integers "
        "back as integers, cut off at 0",
        symbol=use.symbol,
    )


def _is_float(
    node: cst.BaseExpression, context: Context, seen: set[cst.BaseExpression]
) -> bool:
    if node in seen:
        return False
    seen.add(node)
    if isinstance(node, cst.Name):
        # One of several bindings is enough: an image stays float from there on.
        return any(
            bound.value is not None and _is_float(bound.value, context, seen)
            for bound in context.resolver.bindings(node)
        )
    if isinstance(node, cst.BinaryOperation):
        return _is_float(node.left, context, seen) or isinstance(
            node.operator, cst.Divide
        )
    if not isinstance(node, cst.Call):
        return False
    symbol = context.resolver.resolve(node.func)
    types = [_type_of(arg.value, context) for arg in node.args[1:]]
    if symbol in _FLOATS:
        return all(kind is None or "float" in kind for kind in types)
    if any(kind is not None and "float" in kind for kind in types):
        return True
    # A crop or a flip keeps the type of what it is given.
    return bool(node.args) and _is_float(node.args[0].value, context, seen)


def _type_of(node: cst.BaseExpression, context: Context) -> str | None:
    """The name of a dtype, where an argument is one."""
    if isinstance(node, cst.SimpleString):
        return node.raw_value
    symbol = context.resolver.resolve(node)
    if symbol is None:
        return None
    name = symbol.rpartition(".")[2]
    return name if name.startswith(("float", "int", "uint", "half")) else None
