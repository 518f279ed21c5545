"""A model function as it is gone through in one mode.

Tests of the mode are decided, so one line of statements is left, and what they give:
a specification, and what its parts are calls of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from ..code.tree import Statement, walk
from ..names.dotted import dotted_name
from ..project.facts import ParsedModule, ProjectFacts
from .arguments import Argument
from .evaluator import Evaluator, evaluate
from .values import (
    Const,
    Dict,
    Env,
    Function,
    Instance,
    Layer,
    Partial,
    Seq,
    Symbol,
    Tensor,
    Value,
)

# Modes, and the strings that they are.
MODES = {"TRAIN": "train", "EVAL": "eval", "PREDICT": "infer"}
# What a `with` may do that stands around statements, and not in them.
_AROUND = (
    "tf.control_dependencies", "tf.device", "tf.name_scope", "tf.variable_op_scope",
    "tf.variable_scope",
)  # fmt: skip
# What gives tensors, if it does not give anything better known.
_OWN = (Function, Instance, Layer, Partial)
_DICTS = ("builtins.dict", "collections.OrderedDict")


@dataclass(frozen=True, eq=False)
class Thing(Tensor):
    """A tensor that is the same as itself alone."""

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__


@dataclass(frozen=True, eq=False)
class Loose(Thing):
    """Something that may also hold tensors: of what kind it is, is not seen."""


@dataclass(frozen=True, eq=False)
class Called(Thing):
    """What a function of TensorFlow gave, or a method of something so given."""

    symbol: str = ""
    arguments: tuple[Argument, ...] = ()
    node: cst.Call | None = None
    owner: Called | None = None


@dataclass(frozen=True)
class _Method(Symbol):
    owner: Called | None = None


@dataclass(frozen=True)
class Decided(Const):
    """What the mode decides."""


class InMode(Evaluator):
    """One evaluation of a model function in a mode."""

    def __init__(self, facts: ProjectFacts, files: Sequence[ParsedModule] = ()) -> None:
        super().__init__(facts, files)
        self.mode = ""
        # Statements of the model function itself, without tests of the mode and scopes.
        self.taken: list[Statement] = []
        # What it returns; where that, or what else it does, is not decided.
        self.result: Value | None = None
        self.unsure: cst.CSTNode | None = None
        # Parts of tests that are False, whatever the mode is.
        self.off: set[cst.CSTNode] = set()
        self._labels = Thing()
        self._top: Env | None = None
        # Functions that have returned; tests, loops and the like around.
        self._left: set[Env] = set()
        self._open = 0

    def given(self, name: str) -> Value:
        if name == "mode":
            return Decided(MODES[self.mode])
        if name == "labels":
            return self._labels
        found = super().given(name)
        return Thing() if type(found) is Tensor else found

    # -- statements

    def enter(self, function: Function, given: dict[str, Value]) -> tuple[Value, bool]:
        before, self._open = self._open, 0
        try:
            return super().enter(function, given)
        finally:
            self._open = before

    def suite(self, body: cst.BaseSuite, env: Env) -> None:
        super().suite(body, env)
        ends = (cst.Return, cst.Raise, cst.Pass)
        if (
            isinstance(body, cst.SimpleStatementSuite)
            and self._is_own(env)
            and not all(isinstance(one, ends) for one in body.body)
        ):
            # Parts of a line are no statements that could be taken elsewhere.
            self.unsure = body

    def statement(self, node: Statement, env: Env) -> None:
        self._top = self._top or env
        if env in self._left:
            return
        if isinstance(node, cst.If):
            test = self.expression(node.test, env)
            if isinstance(test, Decided):
                self._take(node.body if test.value else node.orelse, env)
                return
        if isinstance(node, cst.With) and self._is_around(node, env):
            super().statement(node, env)
            return
        if self._is_own(env):
            self.taken.append(node)
        compound = not isinstance(node, cst.SimpleStatementLine)
        self._open += compound
        super().statement(node, env)
        self._open -= compound

    def _is_own(self, env: Env) -> bool:
        return env is self._top and not self._open

    def _is_around(self, node: cst.With, env: Env) -> bool:
        symbols = [
            self.expression(one.item.func, env)
            for one in node.items
            if isinstance(one.item, cst.Call) and one.asname is None
        ]
        return len(symbols) == len(node.items) and all(
            isinstance(one, Symbol) and one.name in _AROUND for one in symbols
        )

    def _small(self, node: cst.BaseSmallStatement, env: Env) -> None:
        if env in self._left:
            return
        super()._small(node, env)
        if not isinstance(node, (cst.Return, cst.Raise)):
            return
        if not self._open:
            self._left.add(env)
            if env is self._top and isinstance(node, cst.Return):
                value = node.value
                self.result = None if value is None else self.notes.values[value]
        elif env is self._top and isinstance(node, cst.Return):
            self.unsure = node

    # -- expressions

    def _fill(
        self, target: cst.Attribute | cst.Subscript, value: Value, env: Env
    ) -> None:
        held = target.value
        known = env.names.get(held.value) if isinstance(held, cst.Name) else None
        if isinstance(known, Dict) and isinstance(held, cst.Name) and not self._open:
            index = getattr(target.slice[0].slice, "value", held)  # type: ignore[union-attr]
            key = self.expression(index, env)
            if isinstance(key, Const):
                entries = {**dict(known.items), key.value: value}
                env.names[held.value] = Dict(tuple(entries.items()))
                return
        super()._fill(target, value, env)

    def _value(self, node: cst.BaseExpression, env: Env) -> Value:
        if isinstance(node, cst.Dict) and not node.elements:
            return Dict(())
        found = self._decided(node, env) or super()._value(node, env)
        if isinstance(found, Symbol) and ".ModeKeys." in found.name:
            name = found.name.rpartition(".")[2]
            return Const(MODES.get({"INFER": "PREDICT"}.get(name, name), name))
        if type(found) is not Tensor:
            return found
        if isinstance(node, cst.Name):
            return self._told_apart(node.value, env)
        return Loose() if isinstance(node, cst.DictComp) else Thing()

    def _told_apart(self, name: str, env: Env) -> Value:
        """What a name is behind a branch or a loop: from here on, the same."""
        holder = env.holder(name)
        if holder is None:
            return Thing()
        holder.names[name] = found = Thing()
        return found

    def assign(self, target: cst.BaseExpression, value: Value, env: Env) -> None:
        super().assign(target, Thing() if type(value) is Tensor else value, env)

    def _decided(self, node: cst.BaseExpression, env: Env) -> Value | None:
        """What the mode makes of a test, or of a choice."""
        if isinstance(node, cst.IfExp):
            test = self.expression(node.test, env)
            if isinstance(test, Decided):
                return self.expression(node.body if test.value else node.orelse, env)
        elif isinstance(node, cst.UnaryOperation):
            inner = self.expression(node.expression, env)
            if isinstance(node.operator, cst.Not) and isinstance(inner, Decided):
                return Decided(not inner.value)
        elif isinstance(node, cst.BooleanOperation):
            sides = [self.expression(one, env) for one in (node.left, node.right)]
            decides = isinstance(node.operator, cst.Or)
            known = [bool(one.value) for one in sides if isinstance(one, Decided)]
            if decides in known:
                return Decided(decides)
            return Decided(not decides) if len(known) == 2 else None
        elif isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
            return self._compared(node, env)
        return Decided(False) if node in self.off else None

    def _compared(self, node: cst.Comparison, env: Env) -> Value | None:
        operator = node.comparisons[0].operator
        left = self.expression(node.left, env)
        right = self.expression(node.comparisons[0].comparator, env)
        negative = isinstance(operator, (cst.NotEqual, cst.IsNot, cst.NotIn))
        if left is self._labels and right == Const(None):
            # Labels are missing in prediction only.
            return Decided((self.mode == "PREDICT") is not negative)
        if isinstance(operator, (cst.In, cst.NotIn)):
            items = right.items if isinstance(right, Seq) else ()
        elif isinstance(operator, (cst.Equal, cst.Is, cst.NotEqual, cst.IsNot)):
            items = (right,)
        else:
            return None
        values = [one.value for one in items if isinstance(one, Const)]
        by_mode = any(isinstance(one, Decided) for one in (left, *items))
        if not by_mode or not isinstance(left, Const) or len(values) < len(items):
            return None
        return Decided((left.value in values) is not negative)

    def _attribute(self, node: cst.Attribute, env: Env) -> Value:
        found = super()._attribute(node, env)
        held = self.notes.values.get(node.value)
        if isinstance(found, Symbol) and isinstance(held, _Method):
            return _Method(found.name, owner=held.owner)
        trains = isinstance(found, Called) and found.symbol.endswith("Optimizer")
        if isinstance(found, Called) and trains and found is held:
            return _Method(f"{found.symbol}().{node.attr.value}", owner=found)
        return found

    def call(
        self, callee: Value, node: cst.Call, arguments: list[Argument], env: Env
    ) -> Value:
        found = super().call(callee, node, arguments, env)
        name = callee.name if isinstance(callee, Symbol) else ""
        if name in _DICTS and all(one.keyword for one in arguments):
            return Dict(tuple((one.keyword, one.value) for one in arguments))
        if found == Symbol(f"{name}()"):
            return _Method(f"{name}()", Called(name, tuple(arguments), node))
        if type(found) is not Tensor:
            return found
        if name.startswith("tf."):
            owner = callee.owner if isinstance(callee, _Method) else None
            before = self.notes.values.get(node) if env is self._top else None
            if isinstance(before, Called) and before.owner is owner:
                return before  # that of another round of a loop
            return Called(name, tuple(arguments), node, owner)
        return Thing() if isinstance(callee, _OWN) else Loose()


def in_mode(
    facts: ProjectFacts, parsed: ParsedModule, defined: cst.FunctionDef, mode: str
) -> InMode:
    """The evaluation of a model function in a mode."""
    evaluator = InMode(facts, [parsed])
    evaluator.mode = mode
    evaluator.off = _of_tpus(parsed)
    evaluate(evaluator, parsed, defined)
    return evaluator


def _of_tpus(parsed: ParsedModule) -> set[cst.CSTNode]:
    """What tests ask that a TPUEstimator gets as ``use_tpu``; no Trainer has a TPU."""
    names = {
        dotted_name(arg.value)
        for call in (parsed.each(cst.Call) if "tpu" in parsed.source.text else ())
        if (parsed.resolver.resolve(call.func) or "").endswith("tpu.TPUEstimator")
        for arg in call.args
        if arg.keyword is not None and arg.keyword.value == "use_tpu"
    }
    tests = walk(parsed.module, cst.If, cst.IfExp) if names else ()
    found = (node for one in tests for node in walk(one.test, cst.Attribute))
    return {node for node in found if dotted_name(node) in names}
