"""Fits calls to functions whose parameters were renamed or reordered.

The table of parameters comes from the signatures of the two real packages.
Where a call cannot be fitted, ``tf.compat.v1`` has the function unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from ..names.names import Door
from ..names.table import Move
from ..project.text import Edit
from ..report.findings import Outcome
from .base import Diagnosis, SymbolUse
from .context import Context

RULE = "TFM203"


@dataclass(frozen=True)
class Fit:
    """Edits that make a call fit, or the reason why none do."""

    edits: tuple[Edit, ...] = ()
    problem: str | None = None


def argument(call: cst.Call, name: str, position: int) -> cst.Arg | None:
    """The argument of a parameter, given by keyword or by position."""
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == name:
            return arg
    positional = [a for a in call.args if a.keyword is None]
    if any(a.star for a in positional):
        return None
    return positional[position] if position < len(positional) else None


def fit_call(call: cst.Call, move: Move, context: Context) -> Fit:
    """Rename keywords and name positional arguments that moved.

    Gives up, with a reason, on star arguments, on parameters that TF2 dropped and
    on parameters whose default changed and that the call leaves out.
    """
    assert move.old is not None
    if any(arg.star for arg in call.args):
        return Fit(problem="star arguments hide which parameters are set")
    accepted = {*move.new, *move.keyword_only}
    edits: list[Edit] = []
    given: dict[str, str] = {}
    named = False
    for position, arg in enumerate(call.args):
        if arg.keyword is not None:
            old = arg.keyword.value
        elif position < len(move.old):
            old = move.old[position]
        else:
            return Fit(problem="more arguments than TF1's function takes")
        new = move.keywords.get(old, old)
        if new not in accepted:
            return Fit(problem=f"TF2 has no parameter {old!r}")
        if new in given:
            return Fit(problem=f"{old!r} and {given[new]!r} are the same parameter")
        given[new] = old
        if arg.keyword is not None:
            if new != old:
                edits.append(context.replace(arg.keyword, new))
        # A keyword before a positional argument would not parse.
        elif named or position >= len(move.new) or move.new[position] != new:
            named = True
            edits.append(context.insert_before(arg.value, f"{new}="))
    missing = [
        parameter
        for parameter in move.differ
        if move.keywords.get(parameter, parameter) not in given
    ]
    if missing:
        return Fit(problem=f"the default of {missing[0]!r} is another in TF2")
    return Fit(tuple(edits))


def check(use: SymbolUse, context: Context) -> Diagnosis | None:
    """Fit the call, or fall back to the exact old function."""
    move = use.move
    assert move is not None
    target = move.otherwise
    edits: tuple[Edit, ...] = ()
    problem = "it is not called here"
    if use.call is None and _same_by_position(move):
        # Handed over as a function, as in activation=tf.nn.relu.
        target = move.to
    elif use.call is not None:
        fit = fit_call(use.call, move, context)
        problem = fit.problem or ""
        if fit.problem is None:
            target, edits = move.to, fit.edits
    if target is None:
        return Diagnosis(
            RULE,
            f"`{use.symbol}` takes other arguments in TensorFlow 2",
            outcome=Outcome.LEFT,
            reason=f"{problem}; `{move.to}` is its successor",
            note=f"`{use.symbol}`: {problem}; `{move.to}` is its successor",
            symbol=use.symbol,
        )
    if target == use.symbol and not edits:
        if use.door is not Door.PRIVATE:
            return None
        return Diagnosis(
            "TFM204",
            f"`{use.spelled}` is public as `{target}`",
            symbol=use.symbol,
            target=target,
        )
    what = "arguments changed" if edits else f"is `{target}` today"
    return Diagnosis(
        RULE, f"`{use.symbol}` {what}", edits=edits, symbol=use.symbol, target=target
    )


def _same_by_position(move: Move) -> bool:
    """Whether positional arguments mean the same; only extra names were dropped."""
    assert move.old is not None
    return move.old[: len(move.new)] == move.new and not move.differ
