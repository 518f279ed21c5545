"""``tf.image.per_image_standardization``: TF 1.15 gave an image of bytes back as bytes.

https://www.tensorflow.org/api_docs/python/tf/image/per_image_standardization
"""

from __future__ import annotations

import libcst as cst

from ..report.findings import Outcome, Safety
from .base import Diagnosis, Rule, SymbolUse
from .context import Context

SYMBOLS = frozenset({"tf.image.per_image_standardization"})

RULE = Rule(
    id="TFM212",
    name="image-standardization",
    summary="Standardized images of integers are floats again.",
    why=(
        "TensorFlow 1.14 and 1.15, and they alone, gave an image of integers back "
        "in its own type: cut off at 0, so that half of what a model could see was "
        "gone. TensorFlow 2 gives floats, as 1.13 did. A program that standardizes "
        "bytes is trained on other numbers than under TF 1.15, and a model that was "
        "trained there has to be trained anew. An image that is seen to be made "
        "float is the same everywhere, and nothing is said of it."
    ),
    safety=Safety.NEEDS_REVIEW,
    advice_only=True,
    examples=(
        (
            "import tensorflow as tf\n\n"
            "x = tf.image.per_image_standardization(tf.image.decode_png(tf.read_file(f)))\n",
            "import tensorflow as tf\n\n"
            "x = tf.image.per_image_standardization("
            "tf.image.decode_png(tf.io.read_file(f)))\n",
        ),
    ),
    noops=(
        "import tensorflow as tf\n\nx = tf.image.per_image_standardization(image)\n",
        "import tensorflow as tf\n\n"
        "image = tf.cast(tf.io.read_file(f), tf.float32)\n"
        "x = tf.image.per_image_standardization(image)\n",
    ),
)

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
    return Diagnosis(
        RULE.id,
        f"`{use.symbol}` gives floats; TF 1.14 and 1.15 gave an image of integers "
        "back as integers, cut off at 0",
        outcome=Outcome.ADVICE,
        safety=Safety.NEEDS_REVIEW,
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
