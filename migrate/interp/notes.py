"""What an evaluation finds out about the code that it goes through."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from ..plan.code.tree import walk
from ..project.facts import ParsedModule
from .values import Function, Time, Unknown, Value, join, time_of

if TYPE_CHECKING:
    from .handlers import Call

__all__ = ["Made", "Notes"]


@dataclass(frozen=True)
class Made:
    """A call that makes variables: "variable", or a class of Keras."""

    kind: str
    symbol: str
    module: ParsedModule


@dataclass
class Notes:
    """Facts about nodes, joined over every time that they were evaluated."""

    values: dict[cst.CSTNode, Value] = field(default_factory=dict)
    made: dict[cst.CSTNode, Made] = field(default_factory=dict)
    # Calls of functions that make variables.
    helpers: dict[cst.CSTNode, Function] = field(default_factory=dict)
    # Parameters of functions.
    parameters: dict[cst.CSTNode, dict[str, Value]] = field(default_factory=dict)
    # Layers and models of Keras.
    keras: list[Call] = field(default_factory=list)
    # Scopes that say how layers within begin.
    initialized: list[Call] = field(default_factory=list)
    # Calls that are not understood, in the order in which they were met.
    unknown: dict[cst.CSTNode, Unknown] = field(default_factory=dict)

    def see(self, node: cst.CSTNode, value: Value) -> Value:
        """Notes the value of an expression."""
        self.values[node] = join(self.values.get(node), value)
        return value

    def make(self, call: Call, kind: str) -> None:
        """Notes a call that makes variables."""
        self.made[call.node] = Made(kind, call.symbol, call.env.module)

    def makes(self, node: cst.CSTNode) -> bool:
        """Something below the node makes variables."""
        return any(one in self.made or one in self.helpers for one in walk(node))

    def give(self, node: cst.CSTNode, given: dict[str, Value]) -> None:
        """Notes the arguments of one call of a function."""
        known = self.parameters.setdefault(node, {})
        for name, value in given.items():
            known[name] = join(known.get(name), value)

    def time(self, node: cst.CSTNode) -> Time:
        """When an expression is known; one that was never reached, in the graph."""
        value = self.values.get(node)
        return Time.GRAPH if value is None else time_of(value)
