"""Where variables are made, as TF1 named them, so that what it shared is shared.

A variable of TF1 is its name: two calls that make one under the same name, in
scopes of the same name, mean the same variable. The program says so with ``reuse``,
and without it TF1 refuses the second; so the names alone tell. Layers without a name
are counted anew each time that a scope is entered.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import libcst as cst

from ..code.statements import names_in
from ..model_fn.source import Source
from .lifted_names import source_text

__all__ = ["Place", "Places", "place_reads"]

# Marks a part of a name that is made up when it is taken already.
_UNIQUE = "?"
# Around code that gives a part of a name.
_OPEN, _CLOSE = "⟨", "⟩"
_CODE = re.compile(f"{_OPEN}(.*?){_CLOSE}", re.DOTALL)


@dataclass(frozen=True)
class Place:
    """The name of something with variables.

    ``reads`` are the program's variables that the name is made of, as far as it is
    said within a loop; ``each_round`` tells that every round makes another one.
    """

    name: str
    reads: frozenset[str] = frozenset()
    each_round: bool = False


@dataclass(frozen=True)
class _Made:
    # The expression that stands for it, or None where it is not to be had again.
    stands: str | None
    constructor: str


_HIDDEN = _Made(None, "")
_Counts = dict[tuple[cst.CSTNode | None, str], int]
_State = tuple[dict[str, _Made], _Counts]


class Places:
    """What one class has made so far, by the names of TF1."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tree = source.tree
        self.made: dict[str, _Made] = {}
        # How many of a kind were made without a name since a scope was entered.
        self.counts: _Counts = {}
        # Something is made without a name outside of any scope of the function.
        self.loose = False
        # All other names.
        self.fixed: set[str] = set()

    def place(
        self, node: cst.CSTNode, name: str | None, kind: str, *, part: int = 0
    ) -> Place:
        """The place of what a call makes; ``name`` is its source, if it has one.

        ``part`` counts the layers of one call.
        """
        kind = f"{kind}.{part}" if part else kind
        scopes = self._scopes(node)
        loops = [i for i, scope in enumerate(scopes) if isinstance(scope, cst.For)]
        parts = [self._part(scope) for scope in scopes]
        inner = [p for p in parts[loops[-1] :] if p is not None] if loops else []
        outer = [part for part in parts if part is not None]
        entered = next((s for s in reversed(scopes) if isinstance(s, cst.With)), None)
        if name is not None:
            last = self._said(name) + (f"/{part}" if part else "")
        else:
            number = self.counts.get((entered, kind), 0)
            self.counts[entered, kind] = number + 1
            last = f"{kind}#{number}"
        found = "/".join([*outer, last])
        # A scope whose name may be None, and then be made up.
        unsure = f"{_UNIQUE}{_OPEN}" in found
        each = (name is None and not outer) or _UNIQUE in found
        self.loose |= each
        if not each or unsure:
            self.fixed.add(found)
        if loops and name is None and not inner:
            return Place(found, each_round=True)
        reads = set().union(*map(place_reads, [*inner, last])) if loops else set()
        return Place(found, frozenset(reads))

    def again(self, place: Place, constructor: str, node: cst.CSTNode) -> str | None:
        """What stands for something that was made before, or None for a new one."""
        known = self.made.get(place.name)
        if known is None:
            return None
        if known.stands is None or _UNIQUE in place.name:
            raise self.source.stop(node, "variables that are reused")
        if known.constructor != constructor:
            raise self.source.stop(node, "variables that are reused in another layer")
        return known.stands

    def note(self, place: Place, stands: str | None, constructor: str) -> None:
        """Remembers what was made at a place."""
        self.made[place.name] = _Made(stands, constructor)

    # -- branches ---------------------------------------------------------------

    def state(self) -> _State:
        """What is known now, to come back to."""
        return dict(self.made), dict(self.counts)

    def other(self, state: _State, *, of_mode: bool) -> None:
        """The other branch begins where the first began.

        Branches of the mode are two graphs over one checkpoint: they share.
        """
        made, counts = state
        self.counts = dict(counts)
        if not of_mode:
            self.made = dict(made)

    def join(self, state: _State, first: _State, *, of_mode: bool) -> None:
        """After both branches, of which ``first`` is what the first one knew.

        What is made in one of two branches only cannot be had again.
        """
        for place, count in first[1].items():
            self.counts[place] = max(count, self.counts.get(place, 0))
        if of_mode:
            return
        for name in {*first[0], *self.made} - set(state[0]):
            self.made[name] = _HIDDEN

    # -- scopes ------------------------------------------------------------------

    def _scopes(self, node: cst.CSTNode) -> list[cst.With | cst.For]:
        """The scopes and loops around a node in its function, outermost first."""
        found: list[cst.With | cst.For] = []
        for outer in self.tree.ancestors(node):
            if outer is self.source.defined:
                break
            if isinstance(outer, cst.For) or (
                isinstance(outer, cst.With) and _scope_calls(self.source, outer)
            ):
                found.append(outer)
        return found[::-1]

    def _part(self, scope: cst.With | cst.For) -> str | None:
        """What a scope adds to the names of variables."""
        if isinstance(scope, cst.For):
            return None
        parts = []
        for call in _scope_calls(self.source, scope):
            given = {
                argument.keyword.value: argument.value
                for argument in call.args
                if argument.keyword is not None
            }
            plain = [a.value for a in call.args if a.keyword is None]
            name = plain[0] if plain else given.get("name_or_scope")
            default = plain[1] if len(plain) > 1 else given.get("default_name")
            if name is None or self.tree.code(name) == "None":
                parts.append(f"{_UNIQUE}{self.tree.code(default or call)}")
                continue
            if (
                isinstance(name, cst.Call)
                and self.tree.symbol(name.func) == "tf.get_variable_scope"
            ):
                continue
            said = self._said(source_text(name))
            if default is not None and said.startswith(_OPEN):
                said = f"{_UNIQUE}{said}"
            parts.append(said)
        return "/".join(parts) or None

    def _said(self, code: str) -> str:
        """A name as it is, or the code that gives it, marked."""
        node = cst.parse_expression(code)
        if isinstance(node, cst.SimpleString):
            return str(node.evaluated_value)
        return f"{_OPEN}{code}{_CLOSE}"


def place_reads(name: str) -> set[str]:
    """Variables of the program in the name of a place."""
    found: set[str] = set()
    for code in _CODE.findall(name):
        found |= names_in(code)
    return found


def _scope_calls(source: Source, statement: cst.With) -> list[cst.Call]:
    return [
        item.item
        for item in statement.items
        if isinstance(item.item, cst.Call)
        and source.tree.symbol(item.item.func)
        in ("tf.variable_scope", "tf.variable_op_scope")
    ]
