"""What the functions of TensorFlow and Python mean: one file for each family.

A handler says which names it is for and what a call of one gives. Files of this
package are found by walking it; nothing else has to know of a new one.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import libcst as cst

from ..arguments import Argument
from ..values import Dict, Env, Layer, Tensor, Time, Value, latest

if TYPE_CHECKING:
    from ..evaluator import Evaluator


@dataclass(frozen=True)
class Call:
    """A call that is being evaluated."""

    symbol: str
    node: cst.Call
    arguments: Sequence[Argument]
    env: Env
    evaluator: Evaluator

    @property
    def time(self) -> Time:
        """When all of the arguments are known."""
        return latest(one.value for one in self.arguments)

    def given(self, name: str, place: int | None = None) -> Value | None:
        """The value of an argument that may be given by its place."""
        for one in self.arguments:
            if one.keyword == name:
                return one.value
        plain = [one for one in self.arguments if not one.keyword and not one.star]
        if place is not None and place < len(plain):
            return plain[place].value
        return None

    def by_name(self, parameters: Sequence[str]) -> dict[str, Value]:
        """Arguments by their parameters; what is not seen by a star or a number."""
        found: dict[str, Value] = {}
        for place, one in enumerate(self.arguments):
            if one.star and isinstance(one.value, Dict):
                found.update((str(key), value) for key, value in one.value.items)
                continue
            known = parameters[place] if place < len(parameters) else str(place)
            found[one.keyword or one.star or known] = one.value
        return found

    def layer(
        self, kind: str, parameters: Sequence[str], *, stays: bool, legacy: bool = False
    ) -> Layer:
        """A layer of Keras, or of tf.layers, that the call makes."""
        symbol = f"tf.keras.layers.{kind}" if legacy else self.symbol
        given = self.by_name(parameters)
        told = [(k, repr(getattr(one, "value", "?"))) for k, one in given.items()]
        layer = Layer(symbol, not legacy, tuple(sorted(told)), stays)
        return self.evaluator.made(layer, self, given, legacy)

    def unknown(self, reason: str) -> Value:
        """Says that the call is not understood."""
        return self.evaluator.unknown(reason, self.node, self.env)

    def makes(self, kind: str) -> Value:
        """Notes that the call makes variables; what comes out is a tensor.

        ``kind`` is "variable", or the name of a Keras class.
        """
        self.evaluator.notes.make(self, kind)
        return Tensor()


Handler = Callable[[Call], Value]

_exact: dict[str, Handler] = {}
_folders: dict[str, Handler] = {}


def handles(*names: str) -> Callable[[Handler], Handler]:
    """Registers a handler for names; one that ends in a dot is for all below it."""

    def register(handler: Handler) -> Handler:
        for name in names:
            (_folders if name.endswith(".") else _exact)[name] = handler
        return handler

    return register


def find(symbol: str) -> Handler | None:
    """The handler of a name: its own, or that of the nearest folder."""
    _load()
    if symbol in _exact:
        return _exact[symbol]
    parts = symbol.split(".")
    for count in range(len(parts) - 1, 0, -1):
        folder = ".".join(parts[:count]) + "."
        if folder in _folders:
            return _folders[folder]
    return None


@cache
def _load() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
