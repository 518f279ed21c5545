"""Sends what kept forward code uses of TF1 to where it lives today.

``tf.layers`` and the cells of ``tf.nn.rnn_cell`` moved into tf_keras; the rest of
TF1 is below ``tf.compat.v1``, which is the symbol rules' matter.
"""

from __future__ import annotations

import libcst as cst

from ..plan.inputs import MODE_NAMES
from ..plan.kept_checks import RNN_CELLS
from ..plan.tree import walk
from ..symbols.resolver import Resolver
from .imports import add_imports, drop_unused_imports
from .kept_forward import KERAS_V1

__all__ = ["open_tf1_doors"]

_LEGACY = f"{KERAS_V1}.__internal__.legacy"


def open_tf1_doors(module: cst.Module, resolver: Resolver) -> cst.Module:
    """The module with every ``tf.layers``, cell and mode under its new name."""
    taken = set(resolver.scopes.module_scope.bindings)
    layers, cells = _free("layers_v1", taken), _free("rnn_cell_v1", taken)
    changed: dict[cst.CSTNode, cst.BaseExpression] = {}
    imports: set[str] = set()
    inner: set[cst.CSTNode] = set()
    for node in walk(module):
        if isinstance(node, (cst.Import, cst.ImportFrom)):
            inner.update(walk(node))
        if node in inner:
            continue
        if isinstance(node, cst.Call):
            code = _regularizer(module, resolver, node)
            if code is not None:
                changed[node] = cst.parse_expression(code)
                inner.update(walk(node))
            continue
        if not isinstance(node, (cst.Attribute, cst.Name)):
            continue
        if isinstance(node, cst.Name) and node not in resolver.scopes.loads:
            continue
        symbol = resolver.resolve(node) or ""
        home, _, name = symbol.rpartition(".")
        if home == "tf.estimator.ModeKeys" and name in MODE_NAMES:
            changed[node] = cst.SimpleString(MODE_NAMES[name])
        elif home == "tf.layers":
            changed[node] = cst.parse_expression(f"{layers}.{name}")
            imports.add(f"{_LEGACY}.layers as {layers}")
        elif home == "tf.nn.rnn_cell" or (
            home == "tf.contrib.rnn" and name in RNN_CELLS
        ):
            changed[node] = cst.parse_expression(f"{cells}.{name}")
            imports.add(f"{_LEGACY}.rnn_cell as {cells}")
        else:
            continue
        inner.update(walk(node))
    edited = module.visit(_Replace(changed))
    assert isinstance(edited, cst.Module)
    edited = drop_unused_imports(module, edited)
    edited = add_imports(edited, (), imports)
    return cst.parse_module(edited.bytes)


def _regularizer(module: cst.Module, resolver: Resolver, call: cst.Call) -> str | None:
    """``tf.contrib.layers.l2_regularizer(s)`` halves the sum of squares; Keras not."""
    symbol = resolver.resolve(call.func)
    if symbol not in (
        "tf.contrib.layers.l1_regularizer",
        "tf.contrib.layers.l2_regularizer",
    ):
        return None
    scale = call.args[0].value
    code = module.code_for_node(scale)
    tf = module.code_for_node(call.func).split(".")[0]
    if symbol.endswith("l1_regularizer"):
        return f"{tf}.keras.regularizers.l1({code})"
    if isinstance(scale, (cst.BinaryOperation, cst.IfExp)) and not scale.lpar:
        code = f"({code})"
    return f"{tf}.keras.regularizers.l2({code} / 2)"


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name


class _Replace(cst.CSTTransformer):
    def __init__(self, changed: dict[cst.CSTNode, cst.BaseExpression]) -> None:
        self.changed = changed

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT:
        if original_node in self.changed:
            return self.changed[original_node]  # type: ignore[return-value]
        return super().on_leave(original_node, updated_node)  # type: ignore[return-value]
