"""Averages of all weights, moved behind each update, which an optimizer keeps."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import libcst as cst

from ...code.arguments import UnknownArguments, match_arguments
from ...code.tree import Statement, walk
from .method import Method
from .slices import awaited_around
from .text import Text

if TYPE_CHECKING:
    from .slices import Mode
    from .updates import Reader, Trained

AVERAGE = "tf.train.ExponentialMovingAverage"
_DECIDES = ("decay", "num_updates", "zero_debias", "name")
_OPTIMIZER = re.compile(r"tf_keras\.optimizers\.\w+\(.+\)\s*", re.DOTALL)


# What a Scaffold is made of that restores something else than it saved.
_RESTORES = {"tf.train.Scaffold": ("saver",), "tf.train.Saver": ("var_list", "")}
_Given = Mapping[str, cst.BaseExpression]


def before_averages(
    reader: Reader, node: cst.BaseExpression
) -> tuple[cst.BaseExpression, _Given | None]:
    """What the averages of all weights wait for, and what they are made of.

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
            or len(named) != 2 + reader.maker.evaluates_averages
            or any(mode.source_of(o) is not mode.source_of(waits[0]) for o in others)
            or given.keys() - {"decay", "num_updates", "name"}
        ):
            continue
        reader.check_variables(call.args[0].value if call.args else None, call)
        reader.maker.parts.used |= {tree.statement(o) for o in (node, call, average)}
        return waits[0], given
    return node, None


def averages_restored(mode: Mode, scaffold: cst.BaseExpression) -> list[Statement]:
    """What makes a Scaffold that restores averages in the place of the weights."""
    tree, node = mode.tree, scaffold
    found: list[Statement] = []
    for symbol, names in _RESTORES.items():
        made = mode.source_of(node)
        if not isinstance(made, cst.Call) or tree.symbol(made.func) != symbol:
            return []
        told = [getattr(one.keyword, "value", one.star) for one in made.args]
        if len(told) != 1 or told[0] not in names:
            return []
        found.append(tree.statement(made))
        node = made.args[0].value
    restored = mode.source_of(node)
    func = restored.func if isinstance(restored, cst.Call) else None
    if not isinstance(func, cst.Attribute) or func.attr.value != "variables_to_restore":
        return []
    average = mode.source_of(func.value)
    if not isinstance(average, cst.Call) or tree.symbol(average.func) != AVERAGE:
        return []
    return [*found, *(tree.statement(one) for one in (scaffold, restored, average))]


def with_averages(reader: Reader, trained: Trained, given: _Given) -> None:
    """Lets the optimizer keep averages of the weights, or the Task."""
    text, setup = reader.maker.constructed(given["decay"])
    maker = reader.maker
    if maker.evaluates_averages or "num_updates" in given:
        steps = given.get("num_updates")
        if steps is not None:
            reader.check_step(steps, steps)
            text += ", num_updates=self.optimizer.iterations"
        trained.setup += [one for one in setup if one not in trained.setup]
        made_by = f"{maker.alias}.train.ExponentialMovingAverage({text})"
        trained.others["averages"] = made_by
        moved = "self.averages.apply(self.model.trainable_variables)\n"
        update = Method("apply_gradients", ("gradients",), [])
        for one in trained.methods:
            update = one if one.name == update.name else update
        if update not in trained.methods:
            update.lines.append("super().apply_gradients(gradients)\n")
            trained.methods.append(update)
        update.lines.append(moved)
        maker.parts.words |= {"averages", "apply_gradients"}
        if maker.evaluates_averages:
            trained.others["averages_evaluated"] = "True"
        return
    # It may have been given a name.
    named = f"{trained.optimizer} = "
    lines = [trained.optimizer, *trained.setup]
    made = [one for one in lines if _OPTIMIZER.fullmatch(one.removeprefix(named))]
    if trained.others or len(made) != 1:
        why = "averages of weights beside an optimizer that cannot keep them"
        raise maker.stop(given["decay"], why)
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
