"""Moving averages of the weights, which an operation behind the update keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from ...code.tree import Statement, walk
from ...model.in_mode import Called
from .method import Method
from .slices import Mode, awaited, is_step

if TYPE_CHECKING:
    from .task import Maker
    from .updates import Trained

_AVERAGE = "tf.train.ExponentialMovingAverage"
_PARAMETERS = ("decay", "num_updates", "zero_debias", "name")


@dataclass
class Kept:
    """How averages are kept, and the operation that they wait for."""

    call: cst.Call
    behind: cst.BaseExpression
    decay: cst.BaseExpression
    by_step: bool


def read_averages(maker: Maker, node: cst.BaseExpression) -> Kept | None:
    """What ``average.apply(tf.trainable_variables())`` behind an update keeps."""
    mode = maker.train
    call = mode.source_of(node)
    found = _method(mode, call, "apply")
    if found is None:
        return None
    assert isinstance(call, cst.Call)
    if not _are_all_weights(mode, call):
        raise maker.stop(call, "averages of some variables only")
    given = mode.arguments(found, _PARAMETERS)
    steps = given.get("num_updates")
    by_step = steps is not None and is_step(steps.value)
    if {*given} - {"decay", "num_updates"} or (steps and not by_step):
        reason = f"`{_AVERAGE}` is told more than its decay and the step"
        raise maker.stop(call, reason)
    behind = _waited_for(maker, call)
    maker.parts.used |= {maker.tree.statement(call), *_making(maker)}
    return Kept(call, behind, given["decay"].node, by_step)


def keep(maker: Maker, kept: Kept, trained: Trained) -> None:
    """Adds to a Task what keeps the averages, or raises Refused."""
    if trained.others:
        raise maker.stop(kept.call, "averages of what several optimizers train")
    decay, setup = maker.constructed(kept.decay)
    evaluated = ", evaluated=True" if maker.evaluates_averages else ""
    trained.others["averages"] = f"Averages({decay}{evaluated})"
    trained.setup += [one for one in setup if one not in trained.setup]
    step = ", self.optimizer.iterations" if kept.by_step else ""
    line = f"self.averages.update(self.model.trainable_variables{step})\n"
    for method in trained.methods:
        if method.name == "apply_gradients":
            method.lines.append(line)
            break
    else:
        lines = ["super().apply_gradients(gradients)\n", line]
        trained.methods.append(Method("apply_gradients", ("gradients",), lines))
    maker.parts.words |= {"Averages", "apply_gradients"}


def restores_averages(maker: Maker, mode: Mode, node: cst.BaseExpression) -> bool:
    """``Scaffold(saver=Saver(average.variables_to_restore()))``, and nothing else."""
    call: cst.BaseExpression = node
    made_of = {"tf.train.Scaffold": "saver", "tf.train.Saver": "var_list"}
    for symbol, keyword in made_of.items():
        call = mode.source_of(call)
        if not isinstance(call, cst.Call) or maker.tree.symbol(call.func) != symbol:
            return False
        if len(call.args) != 1:
            return False
        named = call.args[0].keyword
        if named is not None and named.value != keyword:
            return False
        maker.parts.used.add(maker.tree.statement(call))
        call = call.args[0].value
    call = mode.source_of(call)
    found = _method(mode, call, "variables_to_restore")
    if found is None or not isinstance(call, cst.Call):
        return False
    if not _are_all_weights(mode, call):
        return False
    if "name" in mode.arguments(found, _PARAMETERS):
        return False
    maker.parts.used |= {maker.tree.statement(call), *_making(maker)}
    return True


def _are_all_weights(mode: Mode, call: cst.Call) -> bool:
    """A method of averages is given none but all variables that train."""
    weights = [mode.found.notes.values.get(one.value) for one in call.args]
    return all(
        isinstance(one, Called)
        and one.symbol == "tf.trainable_variables"
        and not one.arguments
        for one in weights
    )


def _method(mode: Mode, call: cst.BaseExpression, name: str) -> Called | None:
    """The average whose method a call is."""
    if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Attribute):
        return None
    found = mode.found.notes.values.get(call.func.value)
    if isinstance(found, Called) and found.symbol == _AVERAGE:
        return found if call.func.attr.value == name else None
    return None


def _making(maker: Maker) -> list[Statement]:
    """The statements that make averages, in whichever mode."""
    return [
        maker.tree.statement(one)
        for mode in maker.modes.values()
        for statement in mode.taken
        for one in walk(statement, cst.Call)
        if maker.tree.symbol(one.func) == _AVERAGE
    ]


def _waited_for(maker: Maker, call: cst.Call) -> cst.BaseExpression:
    """The one operation that a call waits for."""
    found: list[cst.BaseExpression] = []
    for above in maker.tree.ancestors(call):
        for one in awaited(maker.tree, above) if isinstance(above, cst.With) else ():
            several = isinstance(one, (cst.List, cst.Tuple)) and one.elements
            found += [part.value for part in several or ()] or [one]
    if len(found) != 1:
        raise maker.stop(call, "the averages do not wait for the update alone")
    return found[0]
