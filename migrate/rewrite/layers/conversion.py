"""Calls of TF1's layer functions, turned into Keras layers and their calls."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass

import libcst as cst

from ...code.arguments import UnknownArguments, is_none, match_arguments
from ...code.source import Source
from ...model.layer_functions import CLASSES, LAYERS, LayerFunction
from .draws import draws
from .layer_class import TF

__all__ = ["Conversion", "Step"]

Text = Callable[[cst.BaseExpression], str]


@dataclass(frozen=True)
class Step:
    """A layer, what it may be called, and what its call is given."""

    constructor: str
    wanted: str
    call_arguments: tuple[tuple[str, str], ...] = ()


@dataclass
class Conversion:
    """Turns one call into a layer; names tell which layers are shared.

    ``text`` gives an argument's source for the constructor, ``moved`` for the call.
    """

    source: Source
    text: Text
    moved: Text

    def convert(
        self, symbol: str, call: cst.Call, wanted: str
    ) -> tuple[cst.BaseExpression, Step]:
        """The tensor that the layer is called on, and the layer.

        It is ``wanted`` where the call gives it no name.
        """
        layer = LAYERS[symbol]
        given = self._match(call, (layer.inputs, *layer.parameters))
        inputs = given.pop(layer.inputs, None)
        if inputs is None:
            raise self.source.stop(call, "a layer without input")
        positional = sum(argument.keyword is None for argument in call.args) - 1
        at_call = []
        for parameter in layer.at_call:
            value = given.pop(parameter, None)
            at_call.append((parameter, "False" if value is None else self.moved(value)))
        named = given.get("name")
        constructor = self._constructor(layer, given, call, positional)
        return inputs, Step(constructor, self._wanted(named, wanted), tuple(at_call))

    def made_class(self, symbol: str, call: cst.Call) -> str:
        """Source of the Keras layer for ``tf.layers.Dense(...)``."""
        layer = CLASSES[symbol]
        names = tuple(n for n in layer.parameters_of_class if n != "reuse")
        given = self._match(call, names)
        positional = sum(argument.keyword is None for argument in call.args)
        return self._constructor(layer, given, call, positional)

    def _constructor(
        self,
        layer: LayerFunction,
        given: dict[str, cst.BaseExpression],
        call: cst.Call,
        positional: int,
    ) -> str:
        """Source of ``Dense(...)`` with arguments in Keras' terms."""
        self._no_reuse(given.pop("reuse", None), given.get("name"), call)
        for parameter in ("fused", "renorm_clipping", "adjustment"):
            if parameter == "adjustment" and not is_none(given.get(parameter)):
                raise self.source.stop(call, "batch normalization with an adjustment")
            given.pop(parameter, None)
        for parameter in ("renorm", "virtual_batch_size"):
            value = given.pop(parameter, None)
            if not is_none(value) and self.text(value) != "False":  # type: ignore[arg-type]
                raise self.source.stop(call, f"batch normalization with `{parameter}`")
        given.pop("renorm_momentum", None)
        parts = []
        for index, (parameter, value) in enumerate(given.items()):
            if parameter.endswith(("_regularizer", "_initializer")):
                if is_none(value):
                    continue
                made = self.source.tree.value(value)
                if made is not None and draws(self.source.tree, made):
                    raise self.source.stop(value, "an initialiser draws from a state")
            code = self.text(value)
            if parameter in ("activation", "trainable") and code in ("None", "True"):
                continue
            plain = index < min(positional, layer.plain)
            parts.append(code if plain else f"{parameter}={code}")
        return f"{TF}.keras.layers.{layer.keras}({', '.join(parts)})"

    def _wanted(self, node: cst.BaseExpression | None, otherwise: str) -> str:
        """An attribute's name after the name that the layer was given."""
        if isinstance(node, cst.BinaryOperation) and isinstance(
            node.left, cst.SimpleString
        ):
            node = node.left  # 'mlp%d' % i
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            node = node.func.value  # 'mlp{}'.format(i)
        if isinstance(node, cst.FormattedString):
            texts = [
                p.value for p in node.parts if isinstance(p, cst.FormattedStringText)
            ]
            text = "".join(texts)
        elif isinstance(node, cst.SimpleString):
            text = str(ast.literal_eval(node.value))
        else:
            return otherwise
        text = re.sub(r"%\w|\{\w*\}", "", text)
        text = re.sub(r"\W+", "_", text).strip("_").lower()
        return text if text.isidentifier() else otherwise

    def _match(
        self, call: cst.Call, parameters: tuple[str, ...]
    ) -> dict[str, cst.BaseExpression]:
        try:
            return match_arguments(call, parameters)
        except UnknownArguments as problem:
            raise self.source.stop(call, f"layer with {problem}") from None

    def _no_reuse(
        self,
        node: cst.BaseExpression | None,
        name: cst.BaseExpression | None,
        call: cst.Call,
    ) -> None:
        if is_none(node) or (isinstance(node, cst.Name) and node.value == "False"):
            return
        if is_none(name):
            raise self.source.stop(call, "a layer without a name that is reused")
