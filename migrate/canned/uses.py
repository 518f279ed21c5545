"""How the canned Estimators of a file are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import libcst as cst

from ..plan.code.arguments import UnknownArguments, is_none, match_arguments
from ..plan.code.tree import Tree
from ..symbols.scopes import BindingKind
from .families import FAMILIES, PARTITIONERS, Family

__all__ = ["Uses", "uses_of"]

_TESTS = ("isinstance", "issubclass")


@dataclass
class Uses:
    """All uses of one class in a file."""

    symbol: str
    tree: Tree
    # The expressions that name it, in order.
    names: list[cst.BaseExpression] = field(default_factory=list)
    calls: list[dict[str, cst.BaseExpression]] = field(default_factory=list)
    # Arguments that some call gives by their places.
    by_place: int = 0
    # It is handed about, or called with `**`: nobody knows with what.
    whole: bool = False
    # (line, reason) of a use that no function can stand for.
    stays: tuple[int, str] | None = None

    @property
    def family(self) -> Family:
        """The class."""
        return FAMILIES[self.symbol]

    def asks(self, name: str) -> bool:
        """Whether an argument may be given."""
        if self.whole:
            return name in self.family.parameters
        return any(name in one for one in self.calls)

    def always(self, name: str) -> bool:
        """Whether an argument is given by every call."""
        return not self.whole and all(name in one for one in self.calls)

    def given(self, name: str) -> list[cst.BaseExpression] | None:
        """What is given for an argument, as it is bound; None where it is not seen."""
        if self.whole:
            return None
        nodes = [one[name] for one in self.calls if name in one]
        return [self.tree.value(one) or one for one in nodes]

    def parameters(self) -> list[tuple[str, str]]:
        """The parameters that are asked for, with defaults where they are needed."""
        every = self.family.parameters
        names = [name for name in every if self.asks(name)]
        if self.whole:
            return [(n, every[n]) for n in names if n not in PARTITIONERS]
        first = list(every)[: self.by_place]
        rest = [name for name in names if name not in first]
        rest.sort(key=lambda name: not self.always(name))
        found: list[tuple[str, str]] = []
        for name in (*first, *rest):
            needed = not self.always(name) or any(default for _, default in found)
            found.append((name, every[name] if needed else ""))
        return found


def uses_of(tree: Tree) -> dict[str, Uses]:
    """The canned classes that a file names, and how."""
    found: dict[str, Uses] = {}
    for node, symbol in _named(tree):
        uses = found.setdefault(symbol, Uses(symbol, tree))
        uses.names.append(node)
        if uses.stays is None:
            why = _read(tree, node, uses)
            uses.stays = None if why is None else (tree.line(node), why)
    return found


def _named(tree: Tree) -> Iterator[tuple[cst.BaseExpression, str]]:
    """Expressions that are a canned class."""
    for use in tree.resolver.scopes.uses:
        node: cst.BaseExpression = use.node
        while True:
            symbol = tree.symbol(node)
            if symbol in FAMILIES:
                if not _is_assigned(tree, node):
                    yield node, symbol
                break
            if not isinstance(node, cst.Attribute):
                break
            node = node.value


def _is_assigned(tree: Tree, node: cst.BaseExpression) -> bool:
    """A name that a statement gives to a class, which is read there."""
    bindings = tree.resolver.bindings(node) if isinstance(node, cst.Name) else ()
    return any(one.kind is not BindingKind.IMPORT for one in bindings)


def _read(tree: Tree, node: cst.BaseExpression, uses: Uses) -> str | None:
    """Adds a use; returns why no function can stand for the class in it."""
    name = f"`{uses.symbol}`"
    parent = tree.parent(node)
    if isinstance(parent, cst.Call) and parent.func is node:
        return _read_call(tree, parent, uses)
    if isinstance(parent, cst.Attribute):
        return f"`{parent.attr.value}` is asked of {name} itself"
    above = [one for _, one in zip(range(3), tree.ancestors(node), strict=False)]
    if any(isinstance(one, cst.ClassDef) for one in above):
        return f"a class is derived from {name}"
    tested = (one.func for one in above if isinstance(one, cst.Call))
    if any(isinstance(one, cst.Name) and one.value in _TESTS for one in tested):
        return f"it is asked what is an instance of {name}"
    return _handed_about(tree, uses)


def _handed_about(tree: Tree, uses: Uses) -> str | None:
    uses.whole = True
    if any(name in tree.text for name in PARTITIONERS):
        return f"`{uses.symbol}` may be given a partitioner"
    return None


def _read_call(tree: Tree, call: cst.Call, uses: Uses) -> str | None:
    if any(one.star for one in call.args):
        return _handed_about(tree, uses)
    try:
        given = match_arguments(call, list(uses.family.parameters))
    except UnknownArguments as problem:
        return f"`{uses.symbol}` with {problem}"
    for name in PARTITIONERS:
        if name in given:
            return f"`{uses.symbol}` with `{name}=`, which divides its variables"
    uses.calls.append(given)
    places = sum(1 for one in call.args if one.keyword is None)
    uses.by_place = max(uses.by_place, places)
    optimizers = [n for n in given if n.endswith("optimizer") and is_none(given[n])]
    if optimizers:
        return f"`{uses.symbol}` without an optimizer"
    return None
