"""Where the forward pass of a model_fn ends, for a loop that stands in its place."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ..interp.evaluator import evaluated
from ..interp.notes import Notes
from ..interp.values import Layer
from ..plan.code.pure import is_pure
from ..plan.code.statements import assigned, binds, loads
from ..plan.code.texts import source_text
from ..plan.code.tree import Statement, only_small, statements_of, walk
from ..plan.model_fn.forward import Forward, Reads
from ..plan.model_fn.modes import MODES, Modes
from ..plan.model_fn.source import Source
from ..plan.sites import Blocked
from ..project.facts import ParsedModule, ProjectFacts
from .bodies import Taken
from .plain import PlainBody, in_scope

__all__ = ["PlainLayers"]

_KERAS = "tf.keras.layers."


class PlainLayers:
    """Reads the forward passes of one file's model functions."""

    def __init__(self, parsed: ParsedModule, facts: ProjectFacts) -> None:
        self.parsed = parsed
        self.facts = facts

    def __call__(
        self,
        source: Source,
        modes: Modes,
        statements: Sequence[Statement],
        reads: Reads,
    ) -> Forward:
        """The forward pass, or Blocked with the reason why there is none."""
        found = evaluated(self.facts, [self.parsed], self.parsed, source.defined)
        own = set(walk(source.defined.body))
        for call in found.notes.keras:
            if call.node in own and call.symbol.startswith(_KERAS):
                found.notes.make(call, "keras")
        return _ForwardReader(source, modes, found.notes, reads).read(statements)


class _ForwardReader:
    """Finds the forward pass with the fewest values that come out of it."""

    def __init__(
        self, source: Source, modes: Modes, notes: Notes, reads: Reads
    ) -> None:
        self.source = source
        self.tree = source.tree
        self.modes = modes
        self.notes = notes
        self.reads = reads

    def read(self, statements: Sequence[Statement]) -> Forward:
        """The forward pass, or Blocked with the reason why there is none."""
        statements = self._flat(statements)
        last = self._last_layer(statements)
        if last is None:
            self._check_notes(statements)
            reason = "no layers of tf.layers are seen"
            raise self.source.stop(self.source.defined, reason)
        before, behind = statements[: last + 1], statements[last + 1 :]
        self._check_notes(before)
        for one in before:
            if any(isinstance(node, cst.Return) for node in walk(one)):
                raise self.source.stop(one, "it returns before the last layer")
        flat = self.modes.flat(behind)
        extra = 0
        while extra < len(flat) and self._extends(flat[extra]):
            extra += 1
        best: Forward | None = None
        stop: Blocked | None = None
        for count in range(extra + 1):
            rest = flat[count:] if count else behind
            try:
                found = self._attempt([*before, *flat[:count]], last, rest)
            except Blocked as problem:
                stop = stop or problem
                continue
            if found.outputs and (
                best is None or len(found.outputs) <= len(best.outputs)
            ):
                best = found
        if best is None or "features" in best.outputs:
            if stop is not None:
                raise stop
            reason = "the loss does not follow from the layers"
            raise self.source.stop(self.source.defined, reason)
        return best

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

    def _extends(self, statement: Statement) -> bool:
        """A plain step behind the last layer that may belong to the model."""
        if isinstance(statement, cst.If):
            return self._extends_by_mode(statement)
        small = only_small(statement)
        if not isinstance(small, cst.Assign):
            return False
        if loads(self.tree, statement) & {"labels", "mode"}:
            return False
        return all(
            is_pure(self.tree.symbol(n.func) or "")
            for n in walk(small.value)
            if isinstance(n, cst.Call)
        )

    def _extends_by_mode(self, statement: cst.If) -> bool:
        """Plain steps in training, or outside of it, only."""
        verdicts = [self.modes.test(statement.test, mode) for mode in MODES]
        if verdicts != [True, False, False]:
            return False
        blocks = [statement.body]
        if isinstance(statement.orelse, cst.Else):
            blocks.append(statement.orelse.body)
        elif statement.orelse is not None:
            return False
        return all(
            isinstance(block, cst.IndentedBlock)
            and all(self._extends(one) for one in statements_of(block))
            for block in blocks
        )

    def _attempt(
        self, statements: Sequence[Statement], last: int, behind: list[Statement]
    ) -> Forward:
        """The forward pass if it ends with the given statements."""
        tainted = self._tainted(statements)
        # What is said on purpose to belong to the model counts as needed.
        places = self._needed(statements, set(range(last + 1, len(statements))))
        needed = [one for place, one in enumerate(statements) if place in places]
        for one in needed:
            if loads(self.tree, one) & tainted:
                raise self.source.stop(one, "layers work on the labels")
        body = PlainBody(self.source, self.modes, self.notes, needed)
        taken = body.take()
        aside: list[Statement] = []
        made: set[str] = set()
        for place, one in enumerate(statements):
            if place not in places:
                if isinstance(only_small(one), cst.Expr):
                    body.leave_out(one)
                else:
                    aside.append(one)
            elif body.is_setup(one) or self._picks(one, body):
                # A loss takes it from the features, or the params, as well.
                aside.append(one)
            else:
                made |= binds(one)
        self._check_taken(taken)
        outputs = self.reads([*aside, *behind], made)
        order = [n for one in needed for node in walk(one) for n in assigned(node)]
        returned = [n for n in dict.fromkeys(reversed(order)) if n in outputs][::-1]
        code = [source_text(one) for one in taken.call]
        return Forward(
            tuple(taken.init),
            (*code, f"return {', '.join(returned)}\n"),
            tuple(taken.setup),
            aside,
            behind,
            made,
            tuple(returned),
            body.summaries,
        )

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

    def _needed(self, statements: Sequence[Statement], extra: set[int]) -> set[int]:
        """Places of the statements that the layers, and ``extra``, depend on."""
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
            if index in extra or self._works(statement) or names & wanted or moves:
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
