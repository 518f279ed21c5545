"""Sends what kept forward code uses of TF1 to where it lives today.

``tf.layers`` and the cells of ``tf.nn.rnn_cell`` moved into tf_keras; the rest of
TF1 is below ``tf.compat.v1``, which is the symbol rules' matter.
"""

from __future__ import annotations

import libcst as cst

from ...plan.code.tree import walk
from ...plan.inputs.datasets import MODE_NAMES
from ...plan.model_fn.kept_checks import RNN_CELLS
from ...project.parsing import parse
from ...project.positions import code_of
from ...symbols.resolver import Resolver
from ...symbols.scopes import BindingKind
from ..programs.kept_forward import KERAS_V1
from .imports import add_imports, drop_unused_imports

__all__ = ["open_tf1_doors"]

_L1, _L2 = (f"tf.contrib.layers.l{n}_regularizer" for n in (1, 2))
_LEGACY = f"{KERAS_V1}.__internal__.legacy"


def open_tf1_doors(
    module: cst.Module, resolver: Resolver, tf: str
) -> tuple[str, cst.Module]:
    """The text and module with every ``tf.layers``, cell and mode under its new name.

    ``tf`` is the module's name for tensorflow.
    """
    doors = _Doors(module, resolver, tf)
    edited = module.visit(_Replace(doors.changed()))
    assert isinstance(edited, cst.Module)
    edited = drop_unused_imports(module, edited)
    edited = add_imports(edited, (), doors.imports)
    text = code_of(edited)
    return text, parse(text)


class _Doors:
    def __init__(self, module: cst.Module, resolver: Resolver, tf: str) -> None:
        self.module = module
        self.resolver = resolver
        self.tf = tf
        self.imports: set[str] = set()
        taken = set(resolver.scopes.module_scope.bindings)
        self.layers = _free("layers_v1", taken)
        self.cells = _free("rnn_cell_v1", taken)

    def changed(self) -> dict[cst.CSTNode, cst.BaseExpression]:
        """Expressions to replace, and by what."""
        found: dict[cst.CSTNode, cst.BaseExpression] = {}
        done: set[cst.CSTNode] = set()
        for node in walk(self.module):
            if isinstance(node, (cst.Import, cst.ImportFrom)):
                done.update(walk(node))
            if node in done:
                continue
            code = None
            if isinstance(node, cst.Call) and self._imported(node.func):
                code = self._regularizer(node)
                done.update(walk(node.func) if code is not None else ())
                if code is not None:
                    found[node.func] = cst.parse_expression(code)
                    found.update(self._halved(node))
                continue
            if self._imported(node):
                assert isinstance(node, (cst.Attribute, cst.Name))
                code = self._moved(self.resolver.resolve(node) or "")
            if code is not None:
                found[node] = cst.parse_expression(code)
                done.update(walk(node))
        return found

    def _imported(self, node: cst.CSTNode) -> bool:
        """A name, or attributes of a name, that an import binds."""
        root = node
        while isinstance(root, cst.Attribute):
            root = root.value
        return (
            isinstance(root, cst.Name)
            and root in self.resolver.scopes.loads
            and all(
                binding.kind is BindingKind.IMPORT
                for binding in self.resolver.bindings(root)
            )
        )

    def _moved(self, symbol: str) -> str | None:
        home, _, name = symbol.rpartition(".")
        if home == "tf.estimator.ModeKeys" and name in MODE_NAMES:
            return MODE_NAMES[name]
        if symbol == "tf.layers" or home == "tf.layers":
            self.imports.add(f"{_LEGACY}.layers as {self.layers}")
            return self.layers if symbol == "tf.layers" else f"{self.layers}.{name}"
        if symbol == "tf.nn.rnn_cell":
            self.imports.add(f"{_LEGACY}.rnn_cell as {self.cells}")
            return self.cells
        if home == "tf.nn.rnn_cell" or (home == "tf.contrib.rnn" and name in RNN_CELLS):
            self.imports.add(f"{_LEGACY}.rnn_cell as {self.cells}")
            return f"{self.cells}.{name}"
        if symbol == _L1:
            return f"{self.tf}.keras.regularizers.l1"
        if symbol == _L2:
            return f"lambda scale: {self.tf}.keras.regularizers.l2(scale / 2)"
        return None

    def _regularizer(self, call: cst.Call) -> str | None:
        """``tf.contrib.layers.l2_regularizer(s)`` halves the sum of squares."""
        symbol = self.resolver.resolve(call.func)
        if symbol in (_L1, _L2) and len(call.args) == 1:
            return f"{self.tf}.keras.regularizers.l{1 if symbol == _L1 else 2}"
        return None

    def _halved(self, call: cst.Call) -> dict[cst.CSTNode, cst.BaseExpression]:
        scale = call.args[0]
        keyword = scale.keyword
        if self.resolver.resolve(call.func) == _L1:
            return {} if keyword is None else {keyword: cst.Name("l1")}
        code = self.module.code_for_node(scale.value)
        simple = isinstance(
            scale.value, (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.Float)
        )
        code = f"{code} / 2" if simple or scale.value.lpar else f"({code}) / 2"
        changed: dict[cst.CSTNode, cst.BaseExpression] = {
            scale.value: cst.parse_expression(code)
        }
        if keyword is not None:
            changed[keyword] = cst.Name("l2")
        return changed


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
