"""What one use of a TensorFlow symbol is, and which rule has what to say of it."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from ..names.names import Door, canonical, door
from ..names.resolver import Resolver
from ..names.scopes import BindingKind, Use
from ..names.table import Move, in_compat_v1, lookup, needs_nothing
from ..report.findings import Outcome, Safety
from . import (
    changed_arguments,
    cross_entropy_labels,
    dropout_rate,
    image_standardization,
    private_logger,
)
from .base import Diagnosis, SymbolUse
from .context import Context
from .imports import Fate, ImportItem, advice, has_no_home
from .same_shapes import chooses_alike

# TF 1's tf.saved_model.load takes a session, tags and a directory.
_TF1_LOAD = 3
# Rules that know one symbol better than the table does.
SPECIAL: dict[str, Callable[[SymbolUse, Context], Diagnosis | None]] = {
    symbol: module.check
    for module in (
        dropout_rate,
        cross_entropy_labels,
        image_standardization,
        private_logger,
    )
    for symbol in module.SYMBOLS
}

# What names both TF 1 and TF 2 have; said only where other names are TF 1's.
SAID_OF_TF1 = frozenset({image_standardization.RULE.id})


def symbol_use(use: Use, resolver: Resolver) -> SymbolUse | None:
    """The symbol in a chain: the longest prefix that the table knows."""
    dotted = resolver.qualified(use.node)
    if dotted is None:
        return None
    where = door(dotted)
    if where is None:
        return None
    node: cst.BaseExpression = use.node
    first = True
    whole = dotted
    while True:
        symbol = canonical(dotted)
        if symbol is None or symbol == "tf":
            return _private_use(use, whole, where)
        move = lookup(symbol)
        known = (
            move is not None
            or needs_nothing(symbol)
            or has_no_home(symbol)
            or symbol in SPECIAL
        )
        if symbol.startswith("tf.compat.v2.") and where is Door.PRIVATE:
            today = "tf." + symbol[len("tf.compat.v2.") :]
            move, known = Move(symbol, today), True
        if known or symbol.startswith("tf.python"):
            break
        if not isinstance(node, cst.Attribute) or not isinstance(
            node.value, (cst.Attribute, cst.Name)
        ):
            return _private_use(use, whole, where)
        node, first = node.value, False
        dotted = dotted.rpartition(".")[0]
    assert isinstance(node, (cst.Name, cst.Attribute))
    call = resolver.scopes.calls.get(use.node) if first else None
    return SymbolUse(use, node, symbol, dotted, where, move, call)


def _private_use(use: Use, dotted: str, where: Door) -> SymbolUse | None:
    """A private path that no table knows is still a private path."""
    _, found, path = dotted.partition(".python.")
    node = use.node
    if where is not Door.PRIVATE or not found or not isinstance(node, cst.Attribute):
        return None
    return SymbolUse(use, node, f"tf.python.{path}", dotted, where, None, None)


def diagnose(
    use: SymbolUse, item: ImportItem | None, context: Context
) -> Diagnosis | None:
    """What a rule says of a use, or None where nothing is to be said."""
    symbol, move = use.symbol, use.move
    if use.door is Door.COMPAT_V1 and in_compat_v1(symbol):
        return None
    if (
        symbol == "tf.saved_model.load"
        and use.call is not None
        and len(use.call.args) < _TF1_LOAD
    ):
        return None  # TF 2's function of the same name
    if (
        symbol == "tf.where"
        and isinstance(use.node, cst.Attribute)
        and use.call is not None
        and chooses_alike(use.call, context.resolver)
    ):
        return None
    if context.writes_events and symbol.startswith("tf.summary."):
        return None
    special = SPECIAL.get(symbol)
    if special is not None and isinstance(use.node, cst.Attribute):
        return special(use, context)
    if move is None:
        return _without_home(use)
    if move.old is not None:
        if isinstance(use.node, cst.Name) and item is not None:
            return None
        return changed_arguments.check(use, context)
    if symbol.startswith("tf.contrib."):
        rule, what = "TFM301", "moved to"
    elif use.door is Door.PRIVATE:
        rule, what = "TFM204", "is public as"
    elif move.to.startswith("tf.compat.v1."):
        rule, what = "TFM202", "lives on as"
    else:
        rule, what = "TFM201", "is called"
    return Diagnosis(
        rule,
        f"`{symbol if rule != 'TFM204' else use.spelled}` {what} `{move.to}`",
        symbol=symbol,
        target=move.to,
    )


def _without_home(use: SymbolUse) -> Diagnosis | None:
    symbol = use.symbol
    if needs_nothing(symbol):
        if use.door is not Door.PRIVATE:
            return None
        return Diagnosis(
            "TFM204",
            f"`{use.spelled}` is public as `{symbol}`",
            symbol=symbol,
            target=symbol,
        )
    if symbol.startswith("tf.python"):
        return Diagnosis(
            "TFM204",
            f"`{use.spelled}` is private and may move",
            outcome=Outcome.ADVICE,
            safety=Safety.NEEDS_REVIEW,
            symbol=symbol,
        )
    text = advice(symbol)
    if symbol.startswith("tf.contrib"):
        rule = "TFM302"
    elif symbol.startswith(("tf.estimator", "tf.keras.estimator")):
        rule = "TFM209"
    else:
        rule = "TFM208"
    return Diagnosis(
        rule,
        f"`{symbol}` is gone: {text}",
        outcome=Outcome.ADVICE,
        safety=Safety.NEEDS_REVIEW,
        note=f"`{symbol}` is gone: {text}",
        symbol=symbol,
    )


def will_mean(
    use: SymbolUse, item: ImportItem | None, resolver: Resolver
) -> str | None:
    """What the chain will mean once its import or alias has been rewritten."""
    root = use.use.root
    if root is None:
        return None
    if item is not None:
        if item.fate is Fate.RENAME and item.target is not None:
            return item.target + _behind(use.node, root)
        return None
    bound = resolver.bindings(root)
    named: cst.BaseExpression | None = root
    if len(bound) != 1 or bound[0].kind is not BindingKind.ASSIGN:
        named = resolver.made_elsewhere(use.node)
    if named is not None:
        # What is assigned to the name is rewritten where that stands.
        base = resolver.resolve(named)
        if base is None or base == "tf":
            return None
        suffix = _behind(use.node, named)
        move = lookup(base)
        if move is not None:
            return (move.otherwise or move.to) + suffix
        return base + suffix if needs_nothing(base) else None
    dotted = resolver.qualified(root)
    if dotted is None or door(dotted) is None or door(dotted) is Door.PRIVATE:
        return None
    inner = dotted[len(dotted.split(".")[0]) :]
    return f"tf{inner}{_behind(use.node, root)}"


def _behind(node: cst.BaseExpression, part: cst.BaseExpression) -> str:
    """What follows a part of a chain, with its dots."""
    suffix = ""
    while node is not part and isinstance(node, cst.Attribute):
        suffix = f".{node.attr.value}{suffix}"
        node = node.value
    return suffix
