"""Which TensorFlow a module was written for, where one name means two things.

`tf.where`, `tf.nn.dropout(x, 0.3)` and some hundred and seventy other names are in TF
1 and in TF 2 and are not the same. A project may hold modules that were moved
already: there the name means what it says, and rewriting it would break the code.
"""

from __future__ import annotations

from typing import NamedTuple

import libcst as cst

from ..names.dotted import imported_names
from ..names.names import Door
from ..names.nodes import walk
from ..names.resolver import Resolver
from ..names.table import (
    is_recent,
    lookup,
    means_something_else,
    needs_nothing,
    was_in_tf2,
)
from .base import SymbolUse
from .symbol_judge import symbol_use


class Era(NamedTuple):
    """What of one TensorFlow only a module names, Estimators left aside."""

    tf1: bool
    tf2: bool


def era_of(resolver: Resolver) -> Era:
    """Whether a module names what only TF 1 had, and what only TF 2 has.

    TF 2.0 to 2.15 had Estimators too, so they tell nothing.
    """
    tf1 = any(_names(use.node, "tensorflow.contrib") for use in resolver.scopes.imports)
    tf2 = any(_names(use.node, "tf_keras") for use in resolver.scopes.imports)
    tf2 |= any(_optimizes_as_in_tf2(call, resolver) for call in resolver.scopes.calls)
    for use in resolver.scopes.uses:
        dotted = resolver.qualified(use.node)
        if dotted is None or not dotted.startswith("tensorflow"):
            continue
        if _names_recent(dotted) or dotted.startswith(_ONLY_TF2):
            tf2 = True
            continue
        found = symbol_use(use, resolver)
        if found is not None and not found.symbol.startswith(_ESTIMATORS):
            tf1 = tf1 or _only_tf1(found)
    return Era(tf1, tf2)


def written_for_tf2(resolver: Resolver) -> bool:
    """Whether a module names what only TF 2 has, and nothing that only TF 1 had."""
    era = era_of(resolver)
    return era.tf2 and not era.tf1


def is_ambiguous(symbol: str, door: Door) -> bool:
    """Whether TF 1 and TF 2 have a symbol under this name and differ about it."""
    return door is Door.PUBLIC and means_something_else(symbol)


def _names_recent(dotted: str) -> bool:
    root, *rest = dotted.split(".")
    if root != "tensorflow" or rest[:1] in (["compat"], ["python"]):
        return False
    names = ("tf." + ".".join(rest[:end]) for end in range(len(rest), 0, -1))
    return any(is_recent(name) for name in names)


def _only_tf1(use: SymbolUse) -> bool:
    if use.door is not Door.PUBLIC or means_something_else(use.symbol):
        return False
    if was_in_tf2(use.symbol):
        return False
    return lookup(use.symbol) is not None or not needs_nothing(use.symbol)


def _optimizes_as_in_tf2(called: cst.CSTNode, resolver: Resolver) -> bool:
    """Whether a call makes a canned Estimator with an optimizer of Keras.

    Those of TF 1 take tf.train's only.
    """
    dotted = resolver.qualified(called)
    if dotted is None or not dotted.startswith("tensorflow.estimator."):
        return False
    return any(
        (resolver.qualified(node) or "").startswith("tensorflow.keras.optimizers.")
        for argument in resolver.scopes.calls[called].args
        if argument.keyword is not None and argument.keyword.value.endswith("optimizer")
        for node in walk(argument.value, cst.Attribute)
    )


# The last three are for code that is on its way from TF 1 to TF 2.
_ONLY_TF2 = (
    "tensorflow.compat.v2.",
    "tensorflow.compat.v1.keras.utils.DeterministicRandomTestTool",
    "tensorflow.compat.v1.keras.utils.get_or_create_layer",
    "tensorflow.compat.v1.keras.utils.track_tf1_style_variables",
)
_ESTIMATORS = ("tf.estimator", "tf.keras.estimator")


def _names(node: cst.Import | cst.ImportFrom, package: str) -> bool:
    """Whether an import is of a package or of what is below it."""
    return any(f"{path}.".startswith(f"{package}.") for path in imported_names(node))
