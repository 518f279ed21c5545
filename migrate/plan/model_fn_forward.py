"""The forward pass of a model_fn, lifted into a Keras model."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import libcst as cst

from .arguments import UnknownArguments, is_none, match_arguments
from .layers import LAYERS
from .model_fn_modes import MODES, Modes
from .model_fn_source import Source
from .program import TF
from .pure import is_pure
from .statements import names_in, ordered
from .tree import Statement, only_small, walk

__all__ = ["Forward"]


class Forward:
    """Lifts statements that make layers; collects the layers."""

    def __init__(self, source: Source, modes: Modes) -> None:
        self.source = source
        self.tree = source.tree
        self.modes = modes
        self.layers: list[tuple[str, str]] = []
        self.code: list[str] = []
        self.attributes: set[str] = set()
        self.symbols: frozenset[str] = frozenset()

    def split(
        self, statements: Sequence[Statement]
    ) -> tuple[list[Statement], list[Statement]]:
        """The statements of the forward pass, and those behind it."""
        last = max(
            (i for i, s in enumerate(statements) if self._has_layer(s)), default=None
        )
        if last is None:
            raise self.source.stop(
                self.source.defined, "no layers of tf.layers are seen"
            )
        return list(statements[: last + 1]), list(statements[last + 1 :])

    def _has_layer(self, statement: Statement) -> bool:
        return any(
            isinstance(n, cst.Call)
            and (self.tree.symbol(n.func) or "").startswith(("tf.layers.", "tf.keras."))
            for n in walk(statement)
        )

    def lift(self, statement: Statement) -> None:
        small = only_small(statement)
        if not isinstance(small, cst.Assign):
            raise self.source.stop(
                statement, "the forward pass branches or has effects"
            )
        for node in walk(small.value):
            if isinstance(
                node, (cst.Lambda, cst.ListComp, cst.GeneratorExp, cst.DictComp)
            ):
                raise self.source.stop(node, "layers are made in a loop")
            if isinstance(node, cst.Call):
                self._check_call(node)
        lifted = statement.visit(_Lift(self))
        assert isinstance(lifted, cst.SimpleStatementLine)
        code = self.source.code(lifted)
        if "mode" in names_in(code):
            raise self.source.stop(statement, "the forward pass depends on the mode")
        self.code.append(code)

    @staticmethod
    def bound(statements: Sequence[Statement]) -> list[str]:
        """Names that the statements bind, in order."""
        return ordered(statements)

    def _check_call(self, call: cst.Call) -> None:
        symbol = self.tree.symbol(call.func)
        if symbol is None:
            if isinstance(call.func, cst.Name) and call.func.value in ("len", "int"):
                return
            shown = self.tree.code(call.func)
            raise self.source.stop(call, f"`{shown}` may make variables")
        if symbol in LAYERS or is_pure(symbol):
            return
        raise self.source.stop(call, f"`{symbol}` cannot be lifted yet")

    def attribute(self, wanted: str) -> str:
        """A free attribute name for a layer: dense, dense_1, ..."""
        name, number = wanted, 0
        while name in self.attributes:
            number += 1
            name = f"{wanted}_{number}"
        self.attributes.add(name)
        return name


class _Lift(cst.CSTTransformer):
    """Puts ``self.layer(x)`` in the place of ``tf.layers.layer(x, ...)``."""

    def __init__(self, forward: Forward) -> None:
        self.forward = forward

    def leave_Call(
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        tree = self.forward.tree
        symbol = tree.symbol(original_node.func)
        if symbol not in LAYERS:
            return updated_node
        layer = LAYERS[symbol]
        try:
            given = match_arguments(updated_node, (layer.inputs, *layer.parameters))
        except UnknownArguments as problem:
            raise self.forward.source.stop(
                original_node, f"layer with {problem}"
            ) from None
        inputs = given.pop(layer.inputs, None)
        if inputs is None or not is_none(given.get("reuse")):
            raise self.forward.source.stop(original_node, "a layer that is reused")
        given.pop("reuse", None)
        for name, value in given.items():
            if name not in layer.at_call:
                self.forward.source.check_outer(value, "a layer")
        module = tree.module
        call_arguments = [module.code_for_node(inputs)]
        for name in layer.at_call:
            if name in given:
                call_arguments.append(f"{name}={module.code_for_node(given.pop(name))}")
            else:
                call_arguments.append(f"{name}=False")
        named = given.get("name")
        wanted = symbol.rpartition(".")[2]
        if isinstance(named, cst.SimpleString):
            text = str(ast.literal_eval(named.value))
            wanted = text if text.isidentifier() else wanted
        attribute = self.forward.attribute(wanted)
        inside = ", ".join(
            f"{name}={module.code_for_node(value)}" for name, value in given.items()
        )
        self.forward.layers.append(
            (attribute, f"{TF}.keras.layers.{layer.keras}({inside})")
        )
        return cst.parse_expression(f"self.{attribute}({', '.join(call_arguments)})")

    def leave_Comparison(
        self, original_node: cst.Comparison, updated_node: cst.Comparison
    ) -> cst.BaseExpression:
        verdict = {mode: self.forward.modes.test(original_node, mode) for mode in MODES}
        if verdict["TRAIN"] and not verdict["EVAL"] and not verdict["PREDICT"]:
            return cst.Name("training")
        if None not in verdict.values():
            raise self.forward.source.stop(
                original_node, "the forward pass depends on the mode"
            )
        return updated_node
