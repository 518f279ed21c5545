"""A class while it is lifted: what its names stand for, and what it has so far."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field

import libcst as cst

from ..code.pure import is_plain_call
from ..code.statements import assigned, names_in
from ..code.tree import Statement, only_small, walk
from ..model_fn.modes import MODES, Modes
from ..model_fn.source import Source
from ..program import LayerClass
from .layer_search import makes_layers, makes_plain
from .lifted_calls import CallLifter
from .lifted_names import RESERVED, source_text
from .variable_places import Place, Places

__all__ = ["Kind", "LiftedState", "Loop", "Shared", "VariableScope"]


class Kind(enum.Enum):
    """What a local name stands for."""

    CONFIG = "config"  # a plain value, known when the model is made
    LOOP = "loop"  # a plain value of a loop over plain values
    TENSOR = "tensor"
    TRAINING = "training"  # true in training only
    MODE = "mode"  # any other test of the mode
    OBJECT = "object"  # a layer or variable, now an attribute


@dataclass
class Shared:
    """What all classes lifted from one model_fn share."""

    regularised: bool
    dropped_summaries: list[cst.CSTNode] = field(default_factory=list)
    dropped_regularizer: bool = False
    # Rows of a table are looked up: its gradients are sparse.
    sparse: bool = False
    # contrib's batch_norm works on what may have two dimensions.
    flat_norm: bool = False
    names: set[str] = field(default_factory=set)


@dataclass
class Loop:
    targets: set[str]
    # (attribute of the list, name of the element, constructor)
    made: list[tuple[str, str, str]] = field(default_factory=list)
    config: list[Statement] = field(default_factory=list)
    reads: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class VariableScope:
    """A variable scope: its name and default initialiser."""

    name: str
    initializer: cst.BaseExpression | None


class LiftedState:
    """Collects ``__init__`` of one class, and moves expressions into ``call``."""

    def __init__(
        self, source: Source, modes: Modes, shared: Shared, kinds: dict[str, Kind]
    ) -> None:
        self.source = source
        self.tree = source.tree
        self.modes = modes
        self.shared = shared
        self.kinds = dict(kinds)
        self.objects: dict[str, str] = {}
        # What made an object: name -> call.
        self.made: dict[str, cst.Call] = {}
        self.attributes: set[str] = set()
        self.init: list[str] = []
        self.config: list[Statement] = []
        self.init_reads: set[str] = set()
        self.call_reads: set[str] = set()
        self.uses_training = False
        self.loop: Loop | None = None
        self.conditional = False
        self.scopes: list[VariableScope] = []
        self.places = Places(source)
        self.arguments: list[dict[str, dict[str, cst.BaseExpression]]] = []
        scope = self.tree.resolver.scopes.opened.get(source.defined)
        self.locals: set[str] = set(scope.bindings) if scope is not None else set()
        self.once = {
            name
            for name, found in (scope.bindings.items() if scope is not None else ())
            if len(found) == 1
        }

    def has_layer(self, node: cst.CSTNode) -> bool:
        """Something below the node makes layers or variables."""
        return makes_layers(self.source, node)

    def mode_kind(self, node: cst.BaseExpression) -> Kind | None:
        """The kind of a test of the mode, or None for anything else."""
        verdicts = {mode: self.verdict(node, mode) for mode in MODES}
        if None in verdicts.values():
            return None
        if verdicts == {"TRAIN": True, "EVAL": False, "PREDICT": False}:
            return Kind.TRAINING
        return Kind.MODE

    def verdict(self, node: cst.BaseExpression, mode: str) -> bool | None:
        """What a test of the mode gives in a mode; None for other expressions."""
        if isinstance(node, cst.Name) and self.kinds.get(node.value) is Kind.TRAINING:
            return mode == "TRAIN"
        return self.modes.test(node, mode)

    def is_config(
        self, node: cst.BaseExpression, known: set[str] | None = None
    ) -> bool:
        """The expression is a plain value that is known without a batch."""
        loads = self.tree.resolver.scopes.loads
        for child in walk(node):
            if isinstance(child, cst.Call):
                symbol = self.tree.symbol(child.func)
                if symbol is not None and not makes_plain(symbol):
                    return False
                if symbol is None and not is_plain_call(self.source, child):
                    return False
            if not isinstance(child, cst.Name) or child not in loads:
                continue
            if child.value in (known or ()):
                continue
            kind = self.kinds.get(child.value)
            if kind in (Kind.CONFIG, Kind.LOOP):
                continue
            if kind is not None:
                return False
            if child.value in self.locals and self._own(child):
                return False
        return True

    def _own(self, name: cst.Name) -> bool:
        """The name is bound in this function, not in a comprehension within."""
        return any(
            binding.scope.node is self.source.defined
            for binding in self.tree.resolver.bindings(name)
        )

    # -- text ----------------------------------------

    def text(self, node: cst.BaseExpression) -> str:
        """Source of an argument that is needed when the model is made."""
        loads = self.tree.resolver.scopes.loads
        for child in walk(node):
            if not isinstance(child, cst.Name) or child not in loads:
                continue
            kind = self.kinds.get(child.value)
            if kind in (Kind.CONFIG, Kind.LOOP):
                if kind is Kind.CONFIG:
                    self.init_reads.add(child.value)
                continue
            if kind is not None or (child.value in self.locals and self._own(child)):
                reason = f"a layer depends on `{child.value}`"
                raise self.source.stop(child, reason)
        return source_text(node)

    def moved(self, node: cst.BaseExpression, wanted: str = "") -> cst.BaseExpression:
        """The expression as it stands in ``call``."""
        new = node.visit(CallLifter(self, node, wanted))
        assert isinstance(new, cst.BaseExpression)
        return new

    def moved_statement(self, statement: Statement, wanted: str = "") -> Statement:
        """The statement as it stands in ``call``."""
        small = only_small(statement)
        whole = getattr(small, "value", None) if wanted else None
        new = statement.visit(CallLifter(self, whole, wanted))
        assert isinstance(new, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
        return new

    # -- attributes ----------------------------------------

    def attribute(self, wanted: str) -> str:
        """A free attribute name: dense, dense_1, ..."""
        if wanted in RESERVED:
            outer = next((s.name for s in reversed(self.scopes) if s.name), "")
            outer = outer.replace("-", "_").replace("/", "_").lower()
            wanted = f"{outer}_{wanted}" if outer.isidentifier() else f"{wanted}_"
        name, number = wanted, 0
        # What call reads of plain values is kept under their own names.
        while name in self.attributes or self.kinds.get(name) is Kind.CONFIG:
            number += 1
            name = f"{wanted}_{number}"
        self.attributes.add(name)
        return name

    def make(
        self,
        wanted: str,
        constructor: str,
        *,
        weight: bool = False,
        place: Place | None = None,
        node: cst.CSTNode | None = None,
    ) -> str:
        """Adds a layer to ``__init__``; gives the expression that stands for it.

        ``place`` is the name of its variables, which may be there already.
        """
        if place is None or node is None:
            return self._make(wanted, constructor, weight)
        again = self.places.again(place, constructor, node)
        if again is not None:
            return again
        loop = self.loop
        if loop is None:
            made = self._make(wanted, constructor, weight)
            self.places.note(place, made, constructor)
            return made
        rounds = {n for n, kind in self.kinds.items() if kind is Kind.LOOP}
        if place.each_round or place.reads & rounds:
            self.places.note(place, None, constructor)
            return self._make(wanted, constructor, weight)
        # One and the same in every round.
        if names_in(constructor) & rounds:
            raise self.source.stop(node, "variables that are reused in another layer")
        self.loop = None
        made = self._make(wanted, constructor, weight)
        self.loop = loop
        self.places.note(place, made, constructor)
        return made

    def _make(self, wanted: str, constructor: str, weight: bool) -> str:
        if weight and self.conditional:
            raise self.source.stop(self.source.defined, "variables in a branch")
        if self.loop is not None:
            attribute = self.attribute(
                f"{wanted}_layers" if not weight else f"{wanted}s"
            )
            element = wanted
            while element in self.locals or element in {
                e for _, e, _ in self.loop.made
            }:
                element += "_"
            self.loop.made.append((attribute, element, constructor))
            return element
        attribute = self.attribute(wanted)
        self.init.append(f"self.{attribute} = {constructor}\n")
        return f"self.{attribute}"

    @property
    def kernel(self) -> cst.BaseExpression | None:
        """The default initialiser of the enclosing variable scopes."""
        found = [s.initializer for s in self.scopes if s.initializer is not None]
        return found[-1] if found else None

    # -- the class ----------------------------------------

    def init_code(self, stored: set[str]) -> list[str]:
        """Statements of ``__init__`` after the call of the base class.

        ``stored`` are the parameters that ``call`` reads.
        """
        code = [f"self.{name} = {name}\n" for name in sorted(stored)]
        keep = {
            n for s in self.config for t in walk(s) for n in assigned(t)
        } & self.call_reads
        wanted = self.init_reads | keep
        for statement in self._needed(self.config, wanted):
            code.append(source_text(statement))
            names = {n for t in walk(statement) for n in assigned(t)} & keep
            for name in sorted(names):
                code.append(f"self.{name} = {name}\n")
        return code + self.init

    def finish(
        self,
        *,
        name: str,
        docstring: str | None,
        parameters: tuple[str, ...],
        call: tuple[str, ...],
    ) -> LayerClass:
        """The model's class, of what was collected."""
        return LayerClass(
            name=name,
            base="Model",
            docstring=docstring,
            parameters=parameters,
            arguments=("features",),
            init=tuple(self.init_code(set(parameters) & self.call_reads)),
            call=call,
            training=self.uses_training,
        )

    @staticmethod
    def _needed(statements: Sequence[Statement], reads: set[str]) -> list[Statement]:
        chosen: list[Statement] = []
        wanted = set(reads)
        for statement in reversed(statements):
            names = {n for s in walk(statement) for n in assigned(s)}
            if names & wanted:
                chosen.append(statement)
                wanted |= names_in(source_text(statement))
        return chosen[::-1]
