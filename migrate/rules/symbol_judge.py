"""What one use of a TensorFlow symbol is, and which rule has what to say of it."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from ..names.names import Door, canonical, door
from ..names.resolver import Resolver
from ..names.scopes import BindingKind, Use
from ..names.table import Move, in_compat_v1, lookup, needs_nothing
from . import (
    changed_arguments,
    cross_entropy_labels,
    dropout_rate,
    image_standardization,
)
from .base import Diagnosis, SymbolUse, advised
from .context import Context
from .imports import Fate, ImportItem, advice, has_no_home
from .same_shapes import chooses_alike, means_the_same

# TF 1's tf.saved_model.load takes a session, tags and a directory.
_TF1_LOAD = 3
# What names both TF 1 and TF 2 have; said only where other names are TF 1's.
SAID_OF_TF1 = (image_standardization.RULE,)


def _logger(use: SymbolUse, context: Context) -> Diagnosis:
    """``tf.logging._logger``: the logger that TensorFlow up to 1.13 kept there.

    https://www.tensorflow.org/api_docs/python/tf/get_logger
    """
    new = context.spell("tf.get_logger", use.scope, use.use.root)
    return Diagnosis(
        "TFM213",
        f"`{use.symbol}` is `tf.get_logger()`",
        (context.replace(use.node, f"{new}()"),),
        symbol=use.symbol,
        target=use.symbol,
    )


# Rules that know one symbol better than the table does.
SPECIAL: dict[str, Callable[[SymbolUse, Context], Diagnosis | None]] = {
    "tf.nn.dropout": dropout_rate.check,
    cross_entropy_labels.CROSS_ENTROPY: cross_entropy_labels.check,
    "tf.image.per_image_standardization": image_standardization.check,
    "tf.logging._logger": _logger,
}


def symbol_use(use: Use, resolver: Resolver) -> SymbolUse | None:
    """The symbol in a chain: the longest prefix that the table knows."""
    whole = dotted = resolver.qualified(use.node)
    where = door(dotted) if dotted is not None else None
    if dotted is None or whole is None or where is None:
        return None
    node: cst.BaseExpression = use.node
    while isinstance(node, (cst.Attribute, cst.Name)):
        symbol = canonical(dotted)
        if symbol is None or symbol == "tf":
            break
        move = lookup(symbol)
        known = move is not None or needs_nothing(symbol) or has_no_home(symbol)
        if symbol.startswith("tf.compat.v2.") and where is Door.PRIVATE:
            move, known = Move(symbol, symbol.replace("compat.v2.", "", 1)), True
        if known or symbol in SPECIAL or symbol.startswith("tf.python"):
            call = resolver.scopes.calls.get(node) if node is use.node else None
            return SymbolUse(use, node, symbol, dotted, where, move, call)
        if isinstance(node, cst.Name):
            break
        node, dotted = node.value, dotted.rpartition(".")[0]
    # A private path that no table knows is still a private path.
    _, found, path = whole.partition(".python.")
    node = use.node
    if where is not Door.PRIVATE or not found or not isinstance(node, cst.Attribute):
        return None
    return SymbolUse(use, node, f"tf.python.{path}", whole, where, None, None)


def diagnose(
    use: SymbolUse, item: ImportItem | None, context: Context
) -> Diagnosis | None:
    """What a rule says of a use, or None where nothing is to be said."""
    symbol, move = use.symbol, use.move
    named = isinstance(use.node, cst.Name)
    if use.door is Door.COMPAT_V1 and in_compat_v1(symbol):
        return None
    if use.call is not None:
        arguments = len(use.call.args)
        if symbol == "tf.saved_model.load" and arguments < _TF1_LOAD:
            return None  # TF 2's function of the same name
        plain = symbol == "tf.where" and not named
        if plain and chooses_alike(use.call, context.resolver):
            return None
        public = not named and use.door is not Door.PRIVATE
        if public and means_the_same(symbol, use.call, context.text):
            return None
    if context.writes_events and symbol.startswith("tf.summary."):
        return None
    if symbol in SPECIAL and not named:
        return SPECIAL[symbol](use, context)
    if move is None:
        return _without_home(use)
    if move.old is not None:
        if named and item is not None:
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
        said = f"`{use.spelled}` is private and may move"
        return advised("TFM204", said, symbol=symbol)
    if symbol.startswith("tf.contrib"):
        rule = "TFM302"
    elif symbol.startswith(("tf.estimator", "tf.keras.estimator")):
        rule = "TFM209"
    else:
        rule = "TFM208"
    said = f"`{symbol}` is gone: {advice(symbol)}"
    return advised(rule, said, symbol=symbol, note=said)


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
