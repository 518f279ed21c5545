"""Whether code makes layers or variables, and which names are tensors."""

from __future__ import annotations

import libcst as cst

from ..code.statements import assigned, loads
from ..code.tree import walk
from ..model_fn.source import Source
from .made_layers import is_layer

__all__ = ["makes_layers", "makes_plain", "tensor_names"]

_LAYER_PLACES = (
    "tf.contrib.layers.",
    "tf.contrib.rnn.",
    "tf.contrib.slim.",
    "tf.keras.layers.",
    "tf.layers.",
    "tf.nn.rnn_cell.",
)
_NO_LAYERS = (
    "_column",
    "_columns",
    "_initializer",
    "_regularizer",
    "_regularization",
    "arg_scope",
    "create_train_op",
    "optimize_loss",
    "parse_feature_columns_from_examples",
)


def makes_layers(source: Source, node: cst.CSTNode, depth: int = 0) -> bool:
    """Something below the node makes layers or variables, or calls what does."""
    for child in walk(node):
        if not isinstance(child, cst.Call):
            continue
        symbol = source.tree.symbol(child.func)
        if symbol is not None:
            if is_layer(symbol) or (
                symbol.startswith(_LAYER_PLACES) and not symbol.endswith(_NO_LAYERS)
            ):
                return True
            if symbol in ("tf.get_variable", "tf.Variable"):
                return True
            if symbol.startswith("tf.contrib.lookup.") or symbol in (
                "tf.nn.bidirectional_dynamic_rnn",
                "tf.nn.dynamic_rnn",
                "tf.keras.Sequential",
                "tf.keras.Model",
            ):
                return True
        elif depth < 6:
            made = source.tree.value(child.func)
            if isinstance(made, cst.Call) and made is not child.func:
                # A layer object is called.
                if makes_layers(source, made, depth + 1):
                    return True
                continue
            defined = source.tree.resolver.definition(child.func)
            if isinstance(defined, (cst.ClassDef, cst.FunctionDef)) and makes_layers(
                source, defined.body, depth + 1
            ):
                return True
    return False


def tensor_names(source: Source, known: set[str]) -> set[str]:
    """Names of a function that hold tensors, when the known ones do."""
    found = set(known)
    while True:
        before = len(found)
        for node in walk(source.defined.body):
            value = getattr(node, "value", None)
            if isinstance(node, cst.For):
                value = node.iter
            if not isinstance(value, cst.BaseExpression):
                continue
            makes = any(
                isinstance(child, cst.Call)
                and source.tree.symbol(child.func) is not None
                and not makes_plain(source.tree.symbol(child.func) or "")
                for child in walk(value)
            )
            if (
                makes
                or makes_layers(source, value)
                or loads(source.tree, value) & found
            ):
                found.update(assigned(node))
        if len(found) == before:
            return found


def makes_plain(symbol: str) -> bool:
    """Functions of TensorFlow whose result is a plain value."""
    if symbol.startswith("tf.feature_column.") and "_column" in symbol[18:]:
        return True
    return symbol.endswith(("_initializer", "_regularizer")) or symbol.startswith(
        ("tf.keras.initializers.", "tf.keras.regularizers.", "tf.initializers.")
    )
