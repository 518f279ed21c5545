"""Calls of TF1's layer functions as constructors of layers of Keras."""

from __future__ import annotations

import re
from collections.abc import Callable

import libcst as cst

from ...code.arguments import UnknownArguments, is_none, match_arguments
from ...code.source import Source
from ...model.layer_functions import LayerFunction
from .draws import draws
from .spelling import TF

Text = Callable[[cst.BaseExpression], str]


def matched(
    source: Source, call: cst.Call, parameters: tuple[str, ...]
) -> dict[str, cst.BaseExpression]:
    """The arguments of a call by the names of parameters."""
    try:
        return match_arguments(call, parameters)
    except UnknownArguments as problem:
        raise source.stop(call, f"layer with {problem}") from None


def constructor_of(
    layer: LayerFunction,
    given: dict[str, cst.BaseExpression],
    call: cst.Call,
    source: Source,
    text: Text,
    inputs: int = 0,
) -> str:
    """Source of ``Dense(...)`` with arguments in Keras' terms.

    ``text`` gives an argument's source; the first ``inputs`` of the call are no part
    of it. Names tell which layers are shared.
    """
    reused = given.pop("reuse", None)
    asks = not is_none(reused) and source.tree.code(reused) != "False"  # type: ignore[arg-type]
    if asks and is_none(given.get("name")):
        raise source.stop(call, "a layer without a name that is reused")
    if not is_none(given.get("adjustment")):
        raise source.stop(call, "batch normalization with an adjustment")
    for parameter in ("renorm", "virtual_batch_size"):
        value = given.pop(parameter, None)
        if not is_none(value) and text(value) != "False":  # type: ignore[arg-type]
            raise source.stop(call, f"batch normalization with `{parameter}`")
    for parameter in ("fused", "renorm_clipping", "renorm_momentum", "adjustment"):
        given.pop(parameter, None)
    if layer.keras == "Dropout":
        given = {"rate": cst.Float("0.5")} | given
    positional = sum(argument.keyword is None for argument in call.args) - inputs
    parts = []
    for index, (parameter, value) in enumerate(given.items()):
        if parameter.endswith(("_regularizer", "_initializer")):
            if is_none(value):
                continue
            made = source.tree.value(value)
            if made is not None and draws(source.tree, made):
                raise source.stop(value, "an initialiser draws from a state")
        code = text(value)
        if parameter in ("activation", "trainable") and code in ("None", "True"):
            continue
        plain = index < min(positional, layer.plain)
        parts.append(code if plain else f"{parameter}={code}")
    return f"{TF}.keras.layers.{layer.keras}({', '.join(parts)})"


def name_in(node: cst.BaseExpression | None) -> str | None:
    """The name that a layer is given, as an attribute may be called."""
    if isinstance(node, cst.BinaryOperation):
        node = node.left  # 'mlp%d' % i
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        node = node.func.value  # 'mlp{}'.format(i)
    text = ""
    if isinstance(node, cst.FormattedString):
        parts = node.parts
        text = "".join(p.value for p in parts if isinstance(p, cst.FormattedStringText))
    elif isinstance(node, cst.SimpleString):
        text = str(node.evaluated_value)
    text = re.sub(r"%[-+ #0-9.]*\w|\{[^{}]*\}", "", text)
    text = re.sub(r"\W+", "_", text).strip("_").lower()
    return text if text.isidentifier() else None
