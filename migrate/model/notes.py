"""What an evaluation finds out about the code that it goes through."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import libcst as cst

from ..code.tree import walk
from ..names.nodes import children
from ..project.facts import ParsedModule
from .values import Function, Time, Unknown, Value, join, time_of

if TYPE_CHECKING:
    from .api import Call


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
    # Calls of functions that make variables, and those of which one is called there.
    helpers: dict[cst.CSTNode, list[Function]] = field(default_factory=dict)
    # Functions that keep their layers: these are lifted where they stand.
    staying: set[cst.CSTNode] = field(default_factory=set)
    # Functions that only layers call, which keep what these make.
    handed: set[cst.CSTNode] = field(default_factory=set)
    # Functions that take arguments from an arg_scope.
    scoped: set[cst.CSTNode] = field(default_factory=set)
    # Functions that a call enters.
    entered: dict[cst.CSTNode, set[cst.CSTNode]] = field(default_factory=dict)
    # Blocks of `with` around calls, also in the functions that lead to these.
    around: dict[cst.CSTNode, set[tuple[cst.With, ...]]] = field(default_factory=dict)
    # Calls that are, or were at first, in none.
    bare: set[cst.CSTNode] = field(default_factory=set)
    # The same around calls of layers, by what makes these.
    applied_in: dict[object, set[tuple[cst.With, ...]]] = field(default_factory=dict)
    # Parameters of functions.
    parameters: dict[cst.CSTNode, dict[str, Value]] = field(default_factory=dict)
    # Layers and models of Keras.
    keras: list[Call] = field(default_factory=list)
    # Calls of these.
    aside: set[cst.CSTNode] = field(default_factory=set)
    # Calls of objects of tf.layers.
    applied: set[cst.CSTNode] = field(default_factory=set)
    # Layers with regularizers, and calls that read what these make.
    regularized: list[Call] = field(default_factory=list)
    collecting: set[cst.CSTNode] = field(default_factory=set)
    # Calls of TensorFlow's functions: their names, and the files that they are in.
    symbols: dict[cst.CSTNode, tuple[str, ParsedModule]] = field(default_factory=dict)
    # Calls on tensors that are passed over, as if they made no layers.
    passed: dict[cst.CSTNode, Unknown] = field(default_factory=dict)
    # Calls that are not understood, in the order in which they were met.
    unknown: dict[cst.CSTNode, Unknown] = field(default_factory=dict)

    def see(self, node: cst.CSTNode, value: Value) -> Value:
        """Notes the value of an expression."""
        self.values[node] = join(self.values.get(node), value)
        return value

    def make(self, call: Call, kind: str) -> None:
        """Notes a call that makes variables."""
        self.made[call.node] = Made(kind, call.symbol, call.env.module)

    def by_function(self, node: cst.CSTNode) -> None:
        """Which function it is, or with which arguments, is not said here."""
        made = self.made[node]
        if made.kind != "called":
            self.made[node] = replace(made, kind="function")

    def help(self, node: cst.CSTNode, function: Function) -> None:
        """Notes a call of a function that makes variables."""
        self.handed.discard(function.node)
        known = self.helpers.setdefault(node, [])
        if all(one.node is not function.node for one in known):
            known.append(function)
        if len(known) > 1:
            # Which of them is called is not known here.
            self.staying |= {one.node for one in known}

    def hand(self, node: cst.CSTNode) -> None:
        """Notes that a call hands functions to layers, and does not call them."""
        handed = self.helpers.pop(node)
        called = {one.node for found in self.helpers.values() for one in found}
        self.handed |= {one.node for one in handed} - called

    def makes(self, node: cst.CSTNode) -> bool:
        """Something below the node makes variables that the code around it lifts."""
        return any(one in self.made or self.is_helped(one) for one in self._own(node))

    def _own(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """What is below a node, but not in functions that layers keep."""
        if not self.handed:
            yield from walk(node)
        elif node not in self.handed:
            yield node
            for child in children(node):
                yield from self._own(child)

    def is_helped(self, node: cst.CSTNode) -> bool:
        """A call of a function whose layers move to a class."""
        return node in self.helpers and not self.stays(node)

    def stays(self, node: cst.CSTNode) -> bool:
        """A call of a function that keeps its layers."""
        found = self.helpers.get(node, ())
        return len(found) > 1 or any(one.node in self.staying for one in found)

    def has_staying(self, node: cst.CSTNode) -> bool:
        """Something below the node calls a function that keeps its layers."""
        return any(self.stays(one) for one in walk(node))

    def reached(self, node: cst.CSTNode) -> set[cst.CSTNode]:
        """Functions that code enters, and those that these enter."""
        found: set[cst.CSTNode] = set()
        waiting = [node]
        while waiting:
            for one in walk(waiting.pop()):
                new = self.entered.get(one, set()) - found
                found |= new
                waiting += new
        return found

    def give(self, node: cst.CSTNode, given: dict[str, Value]) -> None:
        """Notes the arguments of one call of a function."""
        known = self.parameters.setdefault(node, {})
        for name, value in given.items():
            known[name] = join(known.get(name), value)

    def is_penalized(self, node: cst.CSTNode) -> bool:
        """Something below the node calls an object that may have a regularizer."""
        return bool(self.regularized) and any(one in self.applied for one in walk(node))

    def is_aside(self, node: cst.CSTNode) -> bool:
        """Something below the node calls, or makes, a layer of Keras."""
        keras = {one.node for one in self.keras}
        return any(one in self.aside or one in keras for one in walk(node))

    def time(self, node: cst.CSTNode) -> Time:
        """When an expression is known; one that was never reached, in the graph."""
        value = self.values.get(node)
        return Time.GRAPH if value is None else time_of(value)
