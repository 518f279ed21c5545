"""Fits calls to functions whose parameters were renamed or reordered.

The table of parameters comes from the signatures of the two real packages.
Where a call cannot be fitted, ``tf.compat.v1`` has the function unchanged.
"""

from __future__ import annotations

from ..names.names import Door
from ..names.table import Move
from ..project.text import Edit
from ..report.findings import Outcome
from .base import Diagnosis, SymbolUse
from .calls import fit_call
from .context import Context

RULE = "TFM203"


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
