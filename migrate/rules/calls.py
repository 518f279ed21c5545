"""Fitting a call written for TF1 to the parameters of its TF2 successor."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from ..names.table import Move
from ..project.text import Edit
from .context import Context


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
