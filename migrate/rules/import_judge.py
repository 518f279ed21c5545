"""What is to be said of an import of TensorFlow."""

from __future__ import annotations

import libcst as cst

from ..names.dotted import import_path
from ..names.names import Door, canonical, door
from ..names.scopes import ImportUse
from ..names.table import lookup
from ..project.text import Edit
from ..report.findings import Outcome, Safety
from .base import Diagnosis
from .imports import Fate, ImportItem, advice, has_no_home


def rule_of(item: ImportItem) -> str:
    """The rule that an import falls under."""
    move = lookup(item.symbol)
    if item.fate is not Fate.RENAME:
        return "TFM205"
    if item.symbol.startswith("tf.contrib."):
        return "TFM301"
    if item.door is Door.PRIVATE:
        return "TFM204"
    if move is not None and move.old is not None and item.target == move.to:
        return "TFM203"
    if item.target is not None and item.target.startswith("tf.compat.v1."):
        return "TFM202"
    return "TFM201"


def import_diagnosis(
    item: ImportItem, edits: dict[ImportItem, tuple[Edit, ...]]
) -> Diagnosis | None:
    """What is said of an import, whose edits are in ``edits`` if it moves."""
    rule = rule_of(item)
    if item in edits:
        if item.fate is Fate.RENAME:
            message = f"`{item.dotted}` is `{item.target}` today"
        else:
            message = f"`{item.dotted}` is no longer needed"
        # A second name in one statement shares the first one's edit.
        return Diagnosis(
            rule, message, edits[item], symbol=item.symbol, target=item.target
        )
    if item.symbol.startswith("tf.python"):
        if item.uses and not item.blocked:
            return None  # its uses have been told
        return Diagnosis(
            "TFM204",
            f"`{item.dotted}` is private and may move",
            outcome=Outcome.ADVICE,
            safety=Safety.NEEDS_REVIEW,
            symbol=item.symbol,
        )
    if item.blocked:
        reason = item.blocked[0]
    else:
        reason = advice(item.symbol)
    note = None
    if not item.use.guarded:
        note = f"`{item.dotted}` cannot be imported in TensorFlow 2: {reason}"
    return Diagnosis(
        "TFM205",
        f"`{item.dotted}` cannot be imported in TensorFlow 2",
        outcome=Outcome.LEFT,
        safety=Safety.NEEDS_REVIEW,
        reason=reason,
        note=note,
        symbol=item.symbol,
    )


def star_diagnosis(use: ImportUse) -> Diagnosis | None:
    """``from tensorflow.contrib.layers import *``: the module itself is gone."""
    node = use.node
    if not isinstance(node, cst.ImportFrom) or node.relative or not node.module:
        return None
    dotted = import_path(node.module)
    symbol, where = canonical(dotted), door(dotted)
    if symbol is None or where is Door.COMPAT_V1:
        return None
    if not (has_no_home(symbol) or symbol.startswith("tf.python")):
        return None
    message = f"`from {dotted} import *` cannot be imported in TensorFlow 2"
    reason = advice(symbol)
    return Diagnosis(
        "TFM205",
        message,
        outcome=Outcome.LEFT,
        safety=Safety.NEEDS_REVIEW,
        reason=reason,
        note=None if use.guarded else f"{message}: {reason}",
        symbol=symbol,
    )
