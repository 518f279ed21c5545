"""Averages of all weights, moved behind each update, which an optimizer keeps."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import libcst as cst

from ...code.arguments import UnknownArguments, match_arguments
from ...code.tree import walk
from .slices import awaited_around
from .text import Text

if TYPE_CHECKING:
    from .updates import Reader, Trained

AVERAGE = "tf.train.ExponentialMovingAverage"
_DECIDES = ("decay", "num_updates", "zero_debias", "name")
_OPTIMIZER = re.compile(r"tf_keras\.optimizers\.\w+\(.+\)\s*", re.DOTALL)


def before_averages(
    reader: Reader, node: cst.BaseExpression
) -> tuple[cst.BaseExpression, cst.BaseExpression | None]:
    """What the averages of all weights wait for, and their decay.

    The node itself, where it is no such operation, or the averages are read.
    """
    mode, tree = reader.mode, reader.tree
    made = mode.source_of(node)
    parts = [made]
    if isinstance(made, cst.Call) and tree.symbol(made.func) == "tf.group":
        parts = [one.value for one in made.args]
    for part in parts:
        call = mode.source_of(part)
        if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
            continue
        func = call.func
        average = mode.source_of(func.value)
        if not isinstance(average, cst.Call) or (
            (func.attr.value, tree.symbol(average.func)) != ("apply", AVERAGE)
        ):
            continue
        try:
            given = match_arguments(average, _DECIDES)
        except UnknownArguments:
            continue
        waits = _each(awaited_around(tree, call))
        others = [one for one in parts if one is not part]
        named = [
            one
            for one in walk(reader.maker.defined, cst.Name)
            if isinstance(func.value, cst.Name) and one.value == func.value.value
        ]
        if (
            len(waits) != 1
            or len(named) != 2
            or any(mode.source_of(o) is not mode.source_of(waits[0]) for o in others)
            or given.keys() - {"decay", "name"}
        ):
            continue
        reader.check_variables(call.args[0].value if call.args else None, call)
        reader.maker.parts.used |= {tree.statement(o) for o in (node, call, average)}
        return waits[0], given["decay"]
    return node, None


def with_averages(reader: Reader, trained: Trained, decay: cst.BaseExpression) -> None:
    """Lets the optimizer keep averages of the weights."""
    text, setup = reader.maker.constructed(decay)
    # It may have been given a name.
    named = f"{trained.optimizer} = "
    lines = [trained.optimizer, *trained.setup]
    made = [one for one in lines if _OPTIMIZER.fullmatch(one.removeprefix(named))]
    if trained.others or len(made) != 1:
        why = "averages of weights beside an optimizer that cannot keep them"
        raise reader.maker.stop(decay, why)
    said = Text(made[0])
    call = getattr(said.body[0], "value", None)
    assert isinstance(call, ast.Call)
    said.add_argument(call, f"use_ema=True, ema_momentum={text}")
    lines = [said.done() if one is made[0] else one for one in trained.setup]
    if made[0] is trained.optimizer:
        trained.optimizer = said.done()
    trained.setup = [*(one for one in setup if one not in lines), *lines]


def _each(nodes: list[cst.BaseExpression]) -> list[cst.BaseExpression]:
    """The elements of lists."""
    kinds = cst.List | cst.Tuple
    found: list[cst.BaseExpression] = []
    for one in nodes:
        found += [e.value for e in one.elements] if isinstance(one, kinds) else [one]
    return found
