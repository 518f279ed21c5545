"""Where the forward pass of a model_fn ends, and which statements belong to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from ..code.arguments import is_none
from ..code.pure import is_pure
from ..code.statements import assigned, backward_slice, binds, loads, names_in
from ..code.tree import Statement, Tree, only_small, statements_of, walk
from ..inputs.tables import TABLES
from ..layers.layer_search import makes_layers
from ..layers.lifted_names import source_text
from ..layers.lifter import Lifter
from ..layers.lifter_state import Kind, Shared
from ..sites import Blocked
from .modes import Modes
from .sections import LOSSES, TOTAL
from .source import Source

__all__ = ["Forward", "ForwardReader"]

_READ = {
    "TRAIN": ("loss", "logits", "labels"),
    "EVAL": ("loss", "eval_metric_ops", "logits", "labels"),
    "PREDICT": ("predictions", "export_outputs", "logits"),
}


@dataclass
class Forward:
    """The forward pass, lifted, and what is left.

    ``call`` are the statements of the model's call; ``aside`` those before its
    end that only losses and the like read, ``behind`` those after it.
    """

    lifter: Lifter
    call: list[Statement]
    aside: list[Statement]
    behind: list[Statement]
    made: set[str]
    outputs: set[str]

    @property
    def order(self) -> list[str]:
        """Names that the call binds, in order."""
        inner = [node for s in self.call for node in walk(s)]
        return [name for node in inner for name in assigned(node)]


class ForwardReader:
    """Finds the forward pass with the fewest values that come out of it."""

    def __init__(
        self,
        source: Source,
        modes: Modes,
        kinds: dict[str, Kind],
        regularised: bool,
        wanted: Sequence[str],
    ) -> None:
        self.source = source
        self.tree = source.tree
        self.modes = modes
        self.kinds = kinds
        self.regularised = regularised
        self.wanted = wanted

    def read(self, statements: Sequence[Statement]) -> Forward:
        """The forward pass, or Blocked with the reason why there is none."""
        before, behind = self._split(self._tables_first(statements))
        flat = self.modes.flat(behind)
        extra = 0
        while extra < len(flat) and self._extends(flat[extra]):
            extra += 1
        best: Forward | None = None
        stop: Blocked | None = None
        for count in range(extra + 1):
            rest = flat[count:] if count else behind
            try:
                found = self._attempt([*before, *flat[:count]], rest)
            except Blocked as problem:
                stop = stop or problem
                continue
            if found.outputs and (
                best is None or len(found.outputs) <= len(best.outputs)
            ):
                best = found
        if best is None:
            if stop is not None:
                raise stop
            reason = "the loss does not follow from the layers"
            raise self.source.stop(self.source.defined, reason)
        return best

    def lifter(self) -> Lifter:
        """A lifter that has seen nothing yet."""
        shared = Shared(self.regularised)
        return Lifter(self.source, self.modes, shared, self.kinds)

    def _tables_first(self, statements: Sequence[Statement]) -> list[Statement]:
        """Tables that only the loss uses are made with the layers all the same."""
        lifter = self.lifter()
        tables = [
            s
            for s in statements
            if isinstance(small := only_small(s), cst.Assign)
            and isinstance(small.value, cst.Call)
            and self.tree.symbol(small.value.func) in TABLES
            and not loads(self.tree, small.value) & lifter.locals - {"params"}
            and set(assigned(s)) <= lifter.once
        ]
        return [*tables, *(s for s in statements if s not in tables)]

    # -- which statements --------------------------------------------------------

    def _split(
        self, statements: Sequence[Statement]
    ) -> tuple[list[Statement], list[Statement]]:
        """The statements up to the last layer, and those behind it."""
        last = self._last_layer(statements)
        if last is None:
            raise self.source.stop(
                self.source.defined, "no layers of tf.layers are seen"
            )
        if _returns(statements[last]):
            statements = self.modes.flat(statements)
            last = self._last_layer(statements)
            assert last is not None
        if _returns(statements[last]):
            raise self.source.stop(statements[last], "layers in a branch that returns")
        before = list(statements[: last + 1])
        if any("labels" in loads(self.tree, s) for s in before):
            before = self.modes.flat(before)
        for statement in before:
            if _returns(statement):
                raise self.source.stop(statement, "it returns before the last layer")
        return before, list(statements[last + 1 :])

    def _last_layer(self, statements: Sequence[Statement]) -> int | None:
        made = [i for i, s in enumerate(statements) if makes_layers(self.source, s)]
        return max(made, default=None)

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
        if self.lifter().mode_kind(statement.test) is not Kind.TRAINING:
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
        self, statements: Sequence[Statement], behind: list[Statement]
    ) -> Forward:
        """The forward pass if it ends with the given statements."""
        lifter = self.lifter()
        # What is said on purpose to belong to the model counts as needed.
        last = self._last_layer(statements)
        assert last is not None
        tainted = self._tainted(statements)
        needed = self._needed(statements, set(range(last + 1, len(statements))))
        call: list[Statement] = []
        aside: list[Statement] = []
        made: set[str] = set()
        picks: set[str] = set()
        for index, statement in enumerate(statements):
            if index in needed:
                if loads(self.tree, statement) & tainted:
                    raise self.source.stop(statement, "layers work on the labels")
                config = len(lifter.config)
                new = lifter.lift([statement])
                call += new
                made |= {n for s in new for n in binds(s)}
                if len(lifter.config) > config:
                    aside.append(statement)
                elif self._picks(statement, lifter):
                    # A loss takes it from the features as well.
                    aside.append(statement)
                    picks |= binds(statement)
                continue
            self._note(lifter, statement)
            if isinstance(only_small(statement), cst.Expr):
                continue
            aside.append(statement)
        outputs = self._outputs(lifter, aside, behind, made - picks)
        return Forward(lifter, call, aside, behind, made, outputs)

    def _tainted(self, statements: Sequence[Statement]) -> set[str]:
        """Names that depend on the labels."""
        tainted = {"labels"}
        for statement in statements:
            if loads(self.tree, statement) & tainted:
                if makes_layers(self.source, statement):
                    raise self.source.stop(statement, "layers work on the labels")
                tainted |= binds(statement)
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
            if (
                index in extra
                or makes_layers(self.source, statement)
                or names & wanted
                or moves
            ):
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

    def _picks(self, statement: Statement, lifter: Lifter) -> bool:
        """``x = features["x"]``."""
        small = only_small(statement)
        return (
            isinstance(small, cst.Assign)
            and isinstance(small.value, cst.Subscript)
            and loads(self.tree, small.value) == {"features"}
            and set(assigned(statement)) <= lifter.once
        )

    def _note(self, lifter: Lifter, statement: Statement) -> None:
        """What a statement that is not lifted says about names."""
        small = only_small(statement)
        if (
            isinstance(small, cst.Assign)
            and (
                lifter.mode_kind(small.value) is not None
                or lifter.is_config(small.value)
            )
        ) or isinstance(small, cst.Expr):
            lifter.lift([statement])
        for name in binds(statement):
            lifter.kinds.setdefault(name, Kind.TENSOR)

    # -- what comes out --------------------------------------------------------------

    def _outputs(
        self,
        lifter: Lifter,
        aside: list[Statement],
        behind: list[Statement],
        made: set[str],
    ) -> set[str]:
        reads = self.reads(aside, behind, made)
        return {n for n in reads if lifter.kinds.get(n) in (None, Kind.TENSOR)}

    def reads(
        self, aside: list[Statement], behind: list[Statement], made: set[str]
    ) -> set[str]:
        """Names of ``made`` that the rest of the model_fn reads."""
        found: set[str] = set()
        for mode in self.wanted:
            statements, call = self.modes.branch([*aside, *behind], mode)
            spec = self.modes.spec(call)
            wanted: set[str] = set()
            for name in _READ[mode]:
                node = spec.get(name)
                if node is not None and not is_none(node):
                    wanted |= loads(self.tree, node) or names_in(source_text(node))
            wanted |= self._collected(statements)
            chosen = backward_slice(self.tree, statements, wanted)
            names = set(wanted)
            for statement in chosen:
                names |= loads(self.tree, statement)
            bound = {n for s in chosen for n in binds(s)}
            # A name that is made anew behind the model is read there only.
            found |= {
                n
                for n in names & made
                if n not in bound or _read_first(self.tree, chosen, n)
            }
        return found

    def _collected(self, statements: Sequence[Statement]) -> set[str]:
        """What losses read that only ``get_total_loss()`` takes up."""
        tree = self.tree
        if not any(any(tree.calls(s, (TOTAL,))) for s in statements):
            return set()
        found: set[str] = set()
        for statement in statements:
            if isinstance(only_small(statement), cst.Expr):
                for call in tree.calls(statement, LOSSES):
                    found |= loads(tree, call)
        return found


def _returns(statement: Statement) -> bool:
    return any(isinstance(n, cst.Return) for n in walk(statement))


def _read_first(tree: Tree, statements: Sequence[Statement], name: str) -> bool:
    """The name is read before the statements give it a new value."""
    for statement in statements:
        if name in loads(tree, statement):
            return True
        if name in binds(statement):
            return isinstance(only_small(statement), cst.AugAssign)
    return True
