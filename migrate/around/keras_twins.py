"""Layers and initializers of TF 1's Keras that today's can stand in for, exactly.

Recurrent layers do with TF 1's defaults written out, batch normalization where nothing
tells the two apart, and initializers of the same distribution where each layer makes
its own: one that several layers share gives all of them the same numbers today.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

import libcst as cst

from ..plan.code.tree import Tree
from .vocabulary import Installed

__all__ = ["Twins", "has_plain_norms", "twins_of"]

_LAYERS = "tf.keras.layers."
_INITIALIZERS = "tf.keras.initializers."
_RECURRENT = {f"{_LAYERS}{name}" for name in ("LSTM", "GRU", "LSTMCell", "GRUCell")}
_NORMALIZATION = f"{_LAYERS}BatchNormalization"
_GATES = "recurrent_activation"
# Where the two kinds have the same parameters, in the same order.
_LEADING = 3
# Initializers of both, and how many arguments they have in common.
_DRAWN = {
    **dict.fromkeys(("he_normal", "he_uniform", "lecun_normal", "lecun_uniform"), 1),
    **dict.fromkeys(("RandomNormal", "RandomUniform", "TruncatedNormal"), 3),
    **dict.fromkeys(("random_normal", "random_uniform", "truncated_normal"), 3),
}
# Only these tell TF 1's batch normalization from that of today: `trainable=False` froze
# weights, and freezes averages as well today.
_OTHER_NORMS = re.compile(r"\b(?:trainable|fused|renorm\w*|virtual_batch_size)\b")


@dataclass
class Twins:
    """What stands in for the symbols of a file, with arguments that calls get."""

    homes: dict[str, Installed] = field(default_factory=dict)
    added: dict[cst.Call, str] = field(default_factory=dict)


def has_plain_norms(texts: Iterable[str]) -> bool:
    """Whether batch normalization does in these texts what it does today."""
    return not any(_OTHER_NORMS.search(text) for text in texts)


def twins_of(tree: Tree, plain_norms: bool) -> Twins:
    """The symbols of a file of which every use has a twin."""
    found = Twins()
    others: set[str] = set()
    for use in tree.resolver.scopes.uses:
        for node in (use.node, *tree.ancestors(use.node)):
            symbol = tree.symbol(node)
            if symbol is None:
                break
            if not symbol.startswith((_LAYERS, _INITIALIZERS)):
                continue
            call = tree.parent(node)
            if not isinstance(call, cst.Call) or call.func is not node:
                others.add(symbol)
            elif symbol in _RECURRENT:
                added = _defaults(symbol, call)
                if added is None:
                    others.add(symbol)
                else:
                    found.homes[symbol] = _today(symbol)
                    found.added[call] = added
            elif (symbol == _NORMALIZATION and plain_norms) or _is_own(tree, call):
                found.homes[symbol] = _today(symbol)
            else:
                others.add(symbol)
    for symbol in others:
        found.homes.pop(symbol, None)
    return found


def _today(symbol: str) -> Installed:
    return Installed("tf_keras", symbol.removeprefix("tf.keras."))


def _defaults(symbol: str, call: cst.Call) -> str | None:
    """TF 1's defaults that a call of a recurrent layer leaves out; None if unseen."""
    named = {arg.keyword.value for arg in call.args if arg.keyword is not None}
    positional = len(call.args) - len(named)
    if any(arg.star for arg in call.args) or positional > _LEADING:
        return None
    added = []
    if _GATES not in named and positional < _LEADING:
        added.append(f'{_GATES}="hard_sigmoid"')
    if "GRU" in symbol and "reset_after" not in named:
        added.append("reset_after=False")
    if named & {"dropout", "recurrent_dropout"} and "implementation" not in named:
        # Each gate drops on its own.
        added.append("implementation=1")
    return ", ".join(added)


def _is_own(tree: Tree, call: cst.Call) -> bool:
    """An initializer that is made where a layer is made, and given to it alone."""
    symbol = tree.symbol(call.func) or ""
    common = _DRAWN.get(symbol.removeprefix(_INITIALIZERS), -1)
    named = {arg.keyword.value for arg in call.args if arg.keyword is not None}
    if any(arg.star for arg in call.args) or "dtype" in named:
        return False
    if len(call.args) - len(named) > common:
        return False
    place = tree.parent(call)
    layer = tree.parent(place) if isinstance(place, cst.Arg) else None
    return isinstance(layer, cst.Call) and (tree.symbol(layer.func) or "").startswith(
        _LAYERS
    )
