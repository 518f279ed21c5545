"""Where the forward pass of a model_fn ends, for a loop that stands in its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from ..interp.evaluator import evaluated
from ..interp.in_mode import InMode
from ..interp.notes import Notes
from ..interp.values import Layer
from ..plan.code.source import Source
from ..plan.code.statements import assigned, backward_slice, binds, loads
from ..plan.code.texts import source_text
from ..plan.code.tree import Statement, Tree, only_small, walk
from ..project.facts import ParsedModule, ProjectFacts
from .plain import PlainBody, in_scope
from .taken import Taken

__all__ = ["Forward", "read_forward"]

_KERAS = "tf.keras.layers."


@dataclass(frozen=True)
class Forward:
    """The class of a forward pass, as source text, and what it leaves.

    ``parameters`` are what the constructor takes of the model_fn. The call binds
    ``made`` and returns ``outputs``; ``nodes`` is all code that it has.
    """

    init: tuple[str, ...]
    call: tuple[str, ...]
    parameters: tuple[str, ...]
    made: set[str]
    outputs: tuple[str, ...]
    nodes: set[cst.CSTNode]


def read_forward(
    facts: ProjectFacts,
    parsed: ParsedModule,
    source: Source,
    statements: Sequence[Statement],
    modes: Mapping[str, InMode],
    wanted: Mapping[str, Sequence[cst.BaseExpression]],
) -> Forward:
    """The forward pass, or Blocked with the reason why there is none.

    ``wanted`` is what a loop computes in each mode.
    """
    found = evaluated(facts, [parsed], parsed, source.defined)
    own = set(walk(source.defined.body))
    for call in found.notes.keras:
        if call.node in own and call.symbol.startswith(_KERAS):
            found.notes.make(call, "keras")
    return _ForwardReader(source, found.notes, modes, wanted).read(statements)


class _ForwardReader:
    """Takes the statements up to the last layer."""

    def __init__(
        self,
        source: Source,
        notes: Notes,
        modes: Mapping[str, InMode],
        wanted: Mapping[str, Sequence[cst.BaseExpression]],
    ) -> None:
        self.source = source
        self.tree = source.tree
        self.notes = notes
        self.modes = modes
        self.wanted = wanted

    def read(self, statements: Sequence[Statement]) -> Forward:
        """The forward pass, or Blocked with the reason why there is none."""
        statements = self._flat(statements)
        last = self._last_layer(statements)
        if last is None:
            self._check_notes(statements)
            reason = "no layers of tf.layers are seen"
            raise self.source.stop(self.source.defined, reason)
        before = statements[: last + 1]
        self._check_notes(before)
        for one in before:
            if any(isinstance(node, cst.Return) for node in walk(one)):
                raise self.source.stop(one, "it returns before the last layer")
        found = self._taken(before)
        if not found.outputs or "features" in found.outputs:
            reason = "the loss does not follow from the layers"
            raise self.source.stop(self.source.defined, reason)
        return found

    # -- which statements

    def _flat(self, statements: Sequence[Statement]) -> list[Statement]:
        """The statements, with those inside of scopes in the scopes' place."""
        found: list[Statement] = []
        for one in statements:
            inside = in_scope(self.source, one)
            found += [one] if inside is None else self._flat(inside)
        return found

    def _last_layer(self, statements: Sequence[Statement]) -> int | None:
        made = [i for i, one in enumerate(statements) if self._works(one)]
        return max(made, default=None)

    def _works(self, statement: Statement) -> bool:
        """It makes a layer, or calls one."""
        values = self.notes.values
        return self.notes.makes(statement) or any(
            isinstance(node, cst.Call) and isinstance(values.get(node.func), Layer)
            for node in walk(statement)
        )

    def _check_notes(self, before: Sequence[Statement]) -> None:
        """What the evaluation found that a plain class has no words for."""
        inside = {node for one in before for node in walk(one)}
        everywhere = set(walk(self.source.defined.body))
        for node, one in self.notes.unknown.items():
            if node in inside:
                raise self.source.stop(node, one.reason)
            if node not in everywhere:
                raise self.source.stop(self.source.defined, one.reason)
        keras = [one for one in self.notes.keras if one.node not in self.notes.made]
        for call in (*keras, *self.notes.regularized):
            why = "layers of Keras" if call in keras else "regularizers"
            where = call.node if call.node in everywhere else self.source.defined
            raise self.source.stop(where, f"{why} in a loop in place")

    def _taken(self, statements: Sequence[Statement]) -> Forward:
        """The class of the statements."""
        tainted = self._tainted(statements)
        places = self._needed(statements)
        needed = [one for place, one in enumerate(statements) if place in places]
        for one in needed:
            if loads(self.tree, one) & tainted:
                raise self.source.stop(one, "layers work on the labels")
        body = PlainBody(self.source, self.modes, self.notes, needed)
        taken = body.take()
        for one in statements:
            if one not in needed and isinstance(only_small(one), cst.Expr):
                body.leave_out(one)
        # What a loss takes from the features, or the params, as well stays there too.
        own = [
            one for one in needed if not (body.is_setup(one) or self._picks(one, body))
        ]
        made = {name for one in own for name in binds(one)}
        nodes = {node for one in own for node in walk(one)}
        self._check_taken(taken)
        outputs = {
            name
            for mode, expressions in self.wanted.items()
            for name in self._read(self.modes[mode], expressions, nodes) & made
        }
        order = [n for one in needed for node in walk(one) for n in assigned(node)]
        returned = [n for n in dict.fromkeys(reversed(order)) if n in outputs][::-1]
        code = [source_text(one) for one in taken.call]
        return Forward(
            tuple(taken.init),
            (*code, f"return {', '.join(returned)}\n"),
            tuple(taken.setup),
            made,
            tuple(returned),
            nodes,
        )

    def _read(
        self,
        mode: InMode,
        expressions: Sequence[cst.BaseExpression],
        nodes: set[cst.CSTNode],
    ) -> set[str]:
        """Names that a mode reads which its own statements have not made before."""
        rest = [one for one in mode.taken if one not in nodes]
        wanted = {name for one in expressions for name in loads(self.tree, one)}
        chosen = backward_slice(self.tree, rest, wanted)
        names = wanted.union(*(loads(self.tree, one) for one in chosen))
        bound = {name for one in chosen for name in binds(one)}
        return {n for n in names if n not in bound or _is_read(self.tree, chosen, n)}

    def _check_taken(self, taken: Taken) -> None:
        """The class is made of the params, and called with the features."""
        given = {*taken.setup} - {"params"} | {*taken.graph} - {"features", "mode"}
        for name in sorted(given):
            reason = f"its layers depend on `{name}`"
            raise self.source.stop(self.source.defined, reason)

    def _tainted(self, statements: Sequence[Statement]) -> set[str]:
        """Names that depend on the labels."""
        tainted = {"labels"}
        for one in statements:
            if loads(self.tree, one) & tainted:
                if self.notes.makes(one):
                    raise self.source.stop(one, "layers work on the labels")
                tainted |= binds(one)
        return tainted

    def _needed(self, statements: Sequence[Statement]) -> set[int]:
        """Places of the statements that the layers depend on."""
        tainted = self._tainted(statements)
        needed: set[int] = set()
        wanted: set[str] = set()
        changed: set[str] = set()
        for index in reversed(range(len(statements))):
            statement = statements[index]
            names, reads = binds(statement), loads(self.tree, statement)
            # A step whose input changes later has to stay in its place.
            moves = (
                reads & changed
                and not (reads & tainted)
                and isinstance(only_small(statement), cst.Assign)
            )
            if self._works(statement) or names & wanted or moves:
                needed.add(index)
                if isinstance(only_small(statement), (cst.Assign, cst.AnnAssign)):
                    wanted -= names
                wanted |= reads
                changed |= names
            elif reads & changed and names:
                shown = sorted(reads & changed)[0]
                raise self.source.stop(
                    statement, f"`{shown}` changes before the loss is made"
                )
        return needed

    def _picks(self, statement: Statement, body: PlainBody) -> bool:
        """``x = features["x"]``."""
        small = only_small(statement)
        return (
            isinstance(small, cst.Assign)
            and isinstance(small.value, cst.Subscript)
            and loads(self.tree, small.value) == {"features"}
            and all(body.is_once(name) for name in assigned(statement))
        )


def _is_read(tree: Tree, statements: Sequence[Statement], name: str) -> bool:
    """The name is read before the statements give it a new value."""
    for statement in statements:
        if name in loads(tree, statement):
            return True
        if name in binds(statement):
            return isinstance(only_small(statement), cst.AugAssign)
    return True
