"""Points at legacy symbols that the program names in a string."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..names.names import Door
from ..names.resolver import Resolver
from ..names.table import Move, in_compat_v1, lookup
from ..report.findings import Outcome, Safety
from . import cross_entropy_labels
from .base import Diagnosis, Rule
from .calls import fit_call
from .context import Context
from .imports import advice, has_no_home

RULE = Rule(
    id="TFM210",
    name="string-symbol",
    summary="A legacy symbol that is named in a string is pointed out.",
    why=(
        '`getattr(tf, "Session")` and `import_module("tensorflow.contrib")` reach '
        "symbols as attributes and imports do. The text of a string may serve other "
        "ends as well, so the code is left as it is."
    ),
    safety=Safety.NEEDS_REVIEW,
    examples=(
        (
            'import tensorflow as tf\n\nmake = getattr(tf, "Session")\n',
            'import tensorflow as tf\n\nmake = getattr(tf, "Session")\n',
        ),
        (
            'import tensorflow as tf\n\ny = getattr(tf.nn, "dropout")(x, 0.25)\n',
            'import tensorflow as tf\n\ny = getattr(tf.nn, "dropout")(x, 0.25)\n',
        ),
    ),
    noops=(
        'import tensorflow as tf\n\nrelu = getattr(tf.nn, "relu")\n',
        'import tensorflow as tf\n\nmake = getattr(tf.compat.v1, "Session")\n',
        "import tensorflow as tf\n\nfound = getattr(tf, name)\n",
        'import tensorflow as tf\n\ny = getattr(tf.nn, "dropout")(x, rate=0.25)\n',
    ),
    advice_only=True,
)

_FUNCTIONS = frozenset({"getattr", "import_module", "__import__"})


def calls(resolver: Resolver) -> Iterator[cst.Call]:
    """Calls that may name a symbol in a string and are used as they are.

    ``getattr(tf, "contrib").slim`` is a chain, which is judged as one.
    """
    chained: set[int] = set()
    for use in resolver.scopes.uses:
        if use.root is None:
            base: cst.BaseExpression = use.node
            while isinstance(base, cst.Attribute):
                base = base.value
            chained.add(id(base))
    for function, call in resolver.scopes.calls.items():
        name = function.attr if isinstance(function, cst.Attribute) else function
        if (
            isinstance(name, cst.Name)
            and name.value in _FUNCTIONS
            and id(call) not in chained
        ):
            yield call


def check_call(call: cst.Call, context: Context) -> Diagnosis | None:
    """Advice for a call that gives a symbol TF2 does not have under that name."""
    resolver = context.resolver
    symbol = resolver.resolve(call)
    if symbol is None:
        return None
    if resolver.door(call) is Door.COMPAT_V1 and in_compat_v1(symbol):
        return None
    move = lookup(symbol)
    if move is not None and move.to != symbol:
        message = f"`{symbol}`, named in a string, is `{move.to}` today"
    elif move is not None and _changed(call, move, context):
        message = (
            f"`{symbol}`, named in a string, takes or does something else today; "
            f"`{move.otherwise or move.to}` is as it was"
        )
    elif move is None and has_no_home(symbol):
        message = f"`{symbol}`, named in a string, is gone: {advice(symbol)}"
    else:
        return None
    return Diagnosis(
        RULE.id,
        message,
        outcome=Outcome.ADVICE,
        safety=Safety.NEEDS_REVIEW,
        symbol=symbol,
    )


def _changed(call: cst.Call, move: Move, context: Context) -> bool:
    """Whether the function of the same name would not take what it is given."""
    if move.old is None:
        return False
    used = context.resolver.scopes.calls.get(call)
    if used is None or move.symbol in cross_entropy_labels.SYMBOLS:
        return True
    fit = fit_call(used, move, context)
    return bool(fit.edits or fit.problem)
