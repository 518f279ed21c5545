"""Points at legacy symbols that the program names in a string."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..names.names import Door
from ..names.table import Move, in_compat_v1, lookup
from .base import Diagnosis, advised
from .changed_arguments import fit_call
from .context import Context
from .cross_entropy_labels import CROSS_ENTROPY
from .imports import advice, has_no_home

RULE = "TFM210"

_FUNCTIONS = ("getattr", "import_module", "__import__")


def diagnoses(context: Context) -> Iterator[tuple[cst.CSTNode, Diagnosis]]:
    """Calls that name a symbol in a string and are used as they are.

    ``getattr(tf, "contrib").slim`` is a chain, which is judged as one.
    """
    chained: set[cst.CSTNode] = set()
    for use in context.resolver.scopes.uses:
        if use.root is None:
            base: cst.BaseExpression = use.node
            while isinstance(base, cst.Attribute):
                base = base.value
            chained.add(base)
    for function, call in context.resolver.scopes.calls.items():
        name = function.attr if isinstance(function, cst.Attribute) else function
        if isinstance(name, cst.Name) and name.value in _FUNCTIONS:
            diagnosis = None if call in chained else _diagnosis(call, context)
            if diagnosis is not None:
                yield call, diagnosis


def _diagnosis(call: cst.Call, context: Context) -> Diagnosis | None:
    """Advice for a call that gives a symbol TF2 does not have under that name."""
    symbol = context.resolver.resolve(call)
    if symbol is None:
        return None
    if context.resolver.door(call) is Door.COMPAT_V1 and in_compat_v1(symbol):
        return None
    move = lookup(symbol)
    if move is not None and move.to != symbol:
        what = f"is `{move.to}` today"
    elif move is not None and _changed(call, move, context):
        instead = move.otherwise or move.to
        what = f"takes or does something else today; `{instead}` is as it was"
    elif move is None and has_no_home(symbol):
        what = f"is gone: {advice(symbol)}"
    else:
        return None
    return advised(RULE, f"`{symbol}`, named in a string, {what}", symbol=symbol)


def _changed(call: cst.Call, move: Move, context: Context) -> bool:
    """Whether the function of the same name would not take what it is given."""
    if move.old is None:
        return False
    used = context.resolver.scopes.calls.get(call)
    if used is None or move.symbol == CROSS_ENTROPY:
        return True
    fit = fit_call(used, move, context)
    return bool(fit.edits or fit.problem)
