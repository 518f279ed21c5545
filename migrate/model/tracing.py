"""An evaluation that tells what everything is computed of, and in which order.

Two programs do the same where their steps are the same: layers that are called,
variables that are made, and all else that has an effect, each with what it is computed
of (`terms`), and with the scopes, loops and tests around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import libcst as cst

from ..code.pure import is_pure
from ..code.tree import walk
from ..names.nodes import children
from ..project.facts import ParsedModule, ProjectFacts
from .api import Call
from .arguments import Argument
from .evaluator import Evaluator
from .layer_functions import EMPTY, at_call
from .notes import Notes
from .terms import Term, constant, term
from .values import (
    Cell,
    Config,
    Const,
    Each,
    Env,
    Function,
    Instance,
    Layer,
    Partial,
    Symbol,
    Tensor,
    Time,
    Value,
    chosen,
    join,
    options_of,
    term_of,
    time_of,
    with_term,
)

_ROUNDS = 4
# The kind of what a function within another one says.
_FUNCTION = "function"
# What layers say nothing of, because nothing else is meant.
_USUAL: dict[str, Term] = {
    "activation": constant(None),
    "activity_regularizer": constant(None),
    "data_format": constant("channels_last"),
    "rate": constant(0.5),
    "trainable": constant(True),
    "use_bias": constant(True),
}
# Arguments that say how a layer computes, or which variables it shares by their names.
_SILENT_NAMES = """
_reuse adjustment fused renorm renorm_clipping renorm_momentum reuse virtual_batch_size
"""
_SILENT = frozenset(_SILENT_NAMES.split())


class Step(NamedTuple):
    """Something that is done: what, what is around it, and where the source says so."""

    done: Term
    path: tuple[Term, ...]
    node: cst.CSTNode
    module: ParsedModule


class Tracer(Evaluator):
    """An evaluation that follows what is computed of what."""

    precise = True

    def __init__(
        self,
        facts: ProjectFacts,
        files: Sequence[ParsedModule] = (),
        notes: Notes | None = None,
    ) -> None:
        super().__init__(facts, files, notes)
        self.steps: list[Step] = []
        # Scopes, tests and loops around; where the running functions began in them.
        self._path: list[Term] = []
        self._starts: list[int] = [0]
        # What is gone through by the loops around.
        self._loops: list[Term] = []
        # For what is gone through at once, that of it which is known early.
        self._early_rounds: dict[Term, Term] = {}
        # Layers and the like, numbered as they are first used.
        self._numbers: dict[tuple[object, ...], int] = {}
        # What the parts of expressions are computed of, while these are evaluated.
        self._parts_of: list[list[Term]] = [[]]
        # What functions give that TensorFlow calls, by the calls that hand them over.
        self._gave: dict[cst.CSTNode, list[Term]] = {}

    # -- expressions

    def expression(self, node: cst.BaseExpression, env: Env) -> Value:
        self.followed += 1
        self._parts_of.append([])
        try:
            value = self._value(node, env)
        finally:
            parts = self._parts_of.pop()
        value = self._told(node, value, parts, env)
        self._parts_of[-1].append(term_of(value))
        return self.notes.see(node, value)

    def _told(
        self, node: cst.BaseExpression, value: Value, parts: list[Term], env: Env
    ) -> Value:
        """A value with what it is computed of."""
        if isinstance(value, Instance):
            return value
        if isinstance(value, Function) and value.term is None:
            return with_term(value, code_term(value))
        known = value.term
        if isinstance(node, cst.Attribute):
            # Of something that tells nothing of its attributes.
            known = None if parts and known is parts[0] else known
        elif isinstance(node, cst.Subscript):
            # Which element, only some of them tell.
            known = known if all(one.kind[0] == "=" for one in parts[1:]) else None
        elif isinstance(node, (cst.IfExp, cst.BooleanOperation)):
            known = None
        if known is not None:
            return value
        if _asks_for_none(node):
            # A function is there or not, whatever it does.
            own = term("a function")
            parts = [own if one.kind == _FUNCTION else one for one in parts]
        if isinstance(node, cst.Name) or not parts:
            if isinstance(value, (Config, Tensor)):
                shown = self.code(node, env)
                return with_term(value, term(f"`{shown}`"))
            return with_term(value, term_of(value))
        return with_term(value, term(label(node), *parts))

    # -- what is around

    def within(self, what: str, value: Value | None) -> None:
        given = () if value is None else (term_of(value),)
        self._path.append(term(what, *given))
        if what == "for" and value is not None:
            self.goes_round(value)

    def beyond(self) -> None:
        if self._path.pop().kind == "for":
            self._loops.pop()

    def merged(self, test: Value, first: Value | None, second: Value | None) -> Value:
        found = chosen(test, first, second)
        # Lifted code says None where a branch does not bind a name.
        one, other = (term_of(value or Const(None)) for value in (first, second))
        if one is other:
            return found
        return with_term(found, term("if", term_of(test), one, other))

    def augmented(self, node: cst.AugAssign, first: Value, second: Value) -> Value:
        of = term(type(node.operator).__name__, term_of(first), term_of(second))
        return with_term(super().augmented(node, first, second), of)

    def goes_round(self, value: Value) -> None:
        over = term_of(value)
        self._loops.append(self._early_rounds.get(over, over))

    def _comprehension(self, node: cst.BaseComp, env: Env) -> Value:
        before = len(self._loops)
        try:
            return super()._comprehension(node, env)
        finally:
            del self._loops[before:]

    def _loop(self, node: cst.For | cst.While, env: Env) -> None:
        """Goes round until nothing new changes from one round to the next."""
        begun = dict(env.names)
        numbers = dict(self._numbers)
        step = len(self.steps)
        changing: dict[str, Term] = {}
        for _ in range(_ROUNDS):
            del self.steps[step:]
            self._numbers = dict(numbers)
            names = dict(env.names)
            around = term_of(self._round(node, env))
            ended = dict(env.names)
            found = {
                name: term_of(ended[name])
                for name in begun
                if term_of(ended[name]) is not term_of(names[name])
            }
            for name, known in names.items():
                env.names[name] = join(known, ended[name])
            for name in found:
                env.names[name] = with_term(env.names[name], term(f"round {name}"))
            known_all = set(found) <= set(changing) and env.names == names
            changing = {**changing, **found}
            if known_all:
                break
        for name, last in changing.items():
            parts = (around, term_of(begun[name]), last)
            env.names[name] = with_term(env.names[name], term("loop", *parts))
        if node.orelse is not None:
            self.suite(node.orelse.body, env)

    # -- functions and objects

    def enter(self, function: Function, given: dict[str, Value]) -> tuple[Value, bool]:
        self._starts.append(len(self._path))
        try:
            return super().enter(function, given)
        finally:
            self._starts.pop()

    def returned(self, value: Value) -> None:
        for one in reversed(self._path[self._starts[-1] :]):
            if one.kind in ("if", "else"):
                value = with_term(value, term("return", term_of(value), one))
        super().returned(value)

    def given_back(self, node: cst.CSTNode, value: Value) -> None:
        self._gave[node].append(term_of(value))

    def _hand(self, call: Call) -> None:
        """What such functions do is no step here: TensorFlow may do it at any time."""
        self._gave[call.node] = []
        before, self.steps = self.steps, []
        numbers, self._numbers = self._numbers, {}
        super()._hand(call)
        self._gave[call.node] += [term("", one.done, *one.path) for one in self.steps]
        self.steps, self._numbers = before, numbers

    def _fill(
        self, target: cst.Attribute | cst.Subscript, value: Value, env: Env
    ) -> None:
        if isinstance(target, cst.Subscript):
            keys = [term_of(v) for one in target.slice for v in self._parts(one, env)]
            value = with_term(value, term(label(target), *keys, term_of(value)))
        super()._fill(target, value, env)

    def put(
        self, holder: cst.BaseExpression, value: Value, env: Env, appended: bool = False
    ) -> None:
        root = holder
        while isinstance(root, (cst.Attribute, cst.Subscript)):
            root = root.value
        name = root.value if isinstance(root, cst.Name) else ""
        before = env.find(name)
        super().put(holder, value, env, appended)
        after = env.find(name)
        if before is None or after is None or after is before:
            return
        filled = with_term(after, term("filled", term_of(before), term_of(value)))
        env.holder(name).names[name] = filled  # type: ignore[union-attr]

    # -- calls

    def call(
        self, callee: Value, node: cst.Call, arguments: list[Argument], env: Env
    ) -> Value:
        found = super().call(callee, node, arguments, env)
        if found.term is not None or isinstance(found, Instance):
            return found
        if isinstance(callee, Layer):
            return self._called_layer(callee, node, arguments, env)
        if isinstance(callee, (Function, Partial)):
            return with_term(found, term_of(found))
        parts = _told_arguments(arguments)
        if isinstance(callee, Symbol):
            if callee.name == "builtins.zip":
                parts = self._zip(arguments) or parts
                if len(parts) == 1:
                    return with_term(found, parts[0])
            of = term(callee.name, *parts, *self._gave.pop(node, ()))
            # What has a name may be asked for by it.
            named = any(one.keyword == "name" for one in arguments)
            if not callee.name.startswith("tf.") or (
                is_pure(callee.name) and not named
            ):
                return with_term(found, of)
        elif isinstance(callee, Instance):
            of = term(f"new {callee.node.name.value}", *parts)
        else:
            of = term("call", term_of(callee), *parts)
        if time_of(found) is not Time.GRAPH and not isinstance(callee, Cell):
            return with_term(found, of)
        if isinstance(found, Layer):
            return replace(found, term=of, **self._place(node, env))
        return with_term(found, self._done(of, node, env))

    def _zip(self, arguments: Sequence[Argument]) -> list[Term]:
        """What is gone through at once; layers that go along say nothing of it.

        The rounds are those of what is known early, if some of it is.
        """
        plain = [
            one.value
            for one in arguments
            if not (isinstance(one.value, Each) and self._is_made(one.value.item))
        ]
        parts = [term_of(one) for one in plain]
        early = [term_of(one) for one in plain if time_of(one) is Time.SETUP]
        if 0 < len(early) < len(parts):
            of = term("builtins.zip", *parts)
            zipped = term("builtins.zip", *early)
            self._early_rounds[of] = early[0] if len(early) == 1 else zipped
        return parts

    def _is_made(self, value: Value) -> bool:
        return all(
            isinstance(one, (Layer, Partial))
            or (isinstance(one, Instance) and self.is_scoped(one))
            for one in options_of(value)
        )

    def _done(self, what: Term, node: cst.CSTNode, env: Env) -> Term:
        """Something with an effect; each time is told apart."""
        number = constant(self._number(("step", node, env)))
        found = term("step", number, what)
        self.steps.append(Step(what, tuple(self._path), node, env.module))
        return found

    def _number(self, what: tuple[object, ...]) -> int:
        if what not in self._numbers:
            kind = what[:1]
            self._numbers[kind] = count = self._numbers.get(kind, 0) + 1
            self._numbers[what] = count
        return self._numbers[what]

    def _called_layer(
        self, layer: Layer, node: cst.Call, arguments: Sequence[Argument], env: Env
    ) -> Value:
        for made in layer.made[:1]:
            around = self.notes.applied_in.setdefault(made, set())
            around.add(tuple(self._blocks))
        named = {one.keyword for one in arguments}
        missing = [
            term(f"{name}=", constant(False))
            for name in layer.quiet
            if name not in named
        ]
        parts = [*_told_arguments(arguments), *missing]
        said = {one.kind for one in term_of(layer).parts}
        if not layer.stays and not self.in_lifted(env):
            # Its class has handed penalties on before there is one.
            early = [one for one in said if one.endswith("_regularizer=")]
            parts += [term(f"without {one}", constant(True)) for one in sorted(early)]
        return self._apply(layer, parts, node, env)

    def applied(
        self,
        call: Call,
        kind: str,
        given: Mapping[str, Value],
        inputs: Value | None,
        at_call: Mapping[str, Value],
    ) -> Value:
        parts = [] if inputs is None else [term_of(inputs)]
        parts += [term(f"{name}=", term_of(one)) for name, one in at_call.items()]
        of = layer_term(kind, given)
        here = self._place(call.node, call.env)
        layer = Layer(kind, keras=False, term=of, **here)
        return self._apply(layer, parts, call.node, call.env)

    def _place(self, node: cst.CSTNode, env: Env) -> dict[str, Any]:
        """Where a layer is made."""
        tests = tuple(one for one in self._path if one.kind in ("if", "else"))
        return {"made": (node, env), "loops": tuple(self._loops), "tests": tests}

    def made(
        self, layer: Layer, call: Call, given: Mapping[str, Value], legacy: bool
    ) -> Layer:
        kind = layer.symbol.rpartition(".")[2]
        return replace(
            layer,
            **self._place(call.node, call.env),
            quiet=at_call(call.symbol) if legacy else (),
            term=layer_term(kind, given),
        )

    def _apply(
        self, layer: Layer, parts: Sequence[Term], node: cst.Call, env: Env
    ) -> Value:
        """A layer's call: which layer, of its own in each round or not, on what."""
        number = constant(self._number(("layer", *layer.made)))
        own = [number]
        if layer.loops != tuple(self._loops) and not EMPTY.search(layer.symbol):
            own.append(term("of loops", *layer.loops))
        # It is there only if these are so.
        held = {part for one in self._path for part in _tests_of(one)}
        missing = [one for one in layer.tests if not held.issuperset(_tests_of(one))]
        if missing:
            own.append(term("made", *missing))
        parts = sorted(parts, key=lambda one: one.kind if one.kind[-1] == "=" else "")
        of = term("apply", term_of(layer), *own, *parts)
        return Tensor(term=self._done(of, node, env))


def _tests_of(test: Term) -> Iterator[Term]:
    """The tests that hold where ``if a and b`` does."""
    (part,) = test.parts if test.kind == "if" and len(test.parts) == 1 else (None,)
    if part is None or part.kind != "And":
        yield test
        return
    for one in part.parts:
        yield from _tests_of(term("if", one))


def _asks_for_none(node: cst.BaseExpression) -> bool:
    """``x is None``, ``x is not None``"""
    return (
        isinstance(node, cst.Comparison)
        and len(node.comparisons) == 1
        and isinstance(node.comparisons[0].operator, (cst.Is, cst.IsNot))
        and isinstance(node.comparisons[0].comparator, cst.Name)
        and node.comparisons[0].comparator.value == "None"
    )


def _told_arguments(arguments: Sequence[Argument]) -> list[Term]:
    """Arguments as terms: those with a keyword behind others, in order."""
    plain = [
        term("*", term_of(one.value)) if one.star else term_of(one.value)
        for one in arguments
        if one.keyword is None
    ]
    named = {one.keyword: term_of(one.value) for one in arguments if one.keyword}
    return [*plain, *(term(f"{name}=", of) for name, of in sorted(named.items()))]


# -- terms of layers and of code


def layer_term(kind: str, given: Mapping[str, Value]) -> Term:
    """A layer by its class of Keras, and the arguments that say something."""
    said: dict[str, Term] = {}
    for name, value in given.items():
        if name in _SILENT:
            continue
        of = _argument(name, value)
        if of is not None and of is not _USUAL.get(name):
            said[name] = of
    parts = [term(f"{name}=", of) for name, of in sorted(said.items())]
    return term(kind, *parts)


def _argument(name: str, value: Value) -> Term | None:
    """An argument; None for one that says nothing."""
    silent = name.endswith(("name", "_initializer", "_regularizer", "_constraint"))
    return None if silent and value == Const(None) else term_of(value)


def label(node: cst.CSTNode) -> str:
    """What an expression does with its parts."""
    if isinstance(node, (cst.BinaryOperation, cst.BooleanOperation)):
        return type(node.operator).__name__
    if isinstance(node, cst.UnaryOperation):
        return type(node.operator).__name__
    if isinstance(node, cst.Comparison):
        return " ".join(type(one.operator).__name__ for one in node.comparisons)
    if isinstance(node, cst.Attribute):
        return f".{node.attr.value}"
    if isinstance(node, cst.Subscript):
        return f"[{', '.join(_slice(one.slice) for one in node.slice)}]"
    if isinstance(node, cst.FormattedString):
        return "".join(_formatted(node))
    if isinstance(node, (cst.Tuple, cst.List)):
        return "()"
    return type(node).__name__


def _slice(node: cst.BaseSlice) -> str:
    if isinstance(node, cst.Index):
        return "_"
    assert isinstance(node, cst.Slice)
    ends = (node.lower, node.upper, node.step)
    return ":".join("" if one is None else "_" for one in ends)


def _formatted(node: cst.FormattedString) -> Iterator[str]:
    for part in node.parts:
        if isinstance(part, cst.FormattedStringText):
            yield part.value
        else:
            assert isinstance(part, cst.FormattedStringExpression)
            spec = "".join(
                one.value
                for one in part.format_spec or ()
                if isinstance(one, cst.FormattedStringText)
            )
            yield f"{{!{part.conversion or ''}:{spec}}}"


def code_term(function: Function) -> Term:
    """A function as a value.

    One of a module, or of a class, is known by its name. What another one says is told,
    with what it sees of the function around it.
    """
    node = function.node
    given = [term_of(one) for one in function.args]
    given += [term(f"{name}=", term_of(one)) for name, one in function.keywords]
    if function.env is None or function.owner is not None:
        assert isinstance(node, cst.FunctionDef)
        return term(f"def {node.name.value}", *given)
    bound = {n.name.value for n in walk(node, cst.Param)}
    bound |= {
        one.target.value
        for n in walk(node, cst.Assign)
        for one in n.targets
        if isinstance(one.target, cst.Name)
    }
    return term(
        _FUNCTION,
        _code(node.params, function.env, bound),
        *given,
        _code(node.body, function.env, bound),
    )


def _code(node: cst.CSTNode, env: Env, bound: set[str]) -> Term:
    """A piece of code, with the names of functions around it as what they are."""
    if isinstance(node, cst.Name):
        value = None if node.value in bound else env.find(node.value)
        return term(node.value) if value is None else term_of(value)
    if isinstance(node, cst.Attribute):
        root = node.value
        held = env.find(root.value) if isinstance(root, cst.Name) else None
        if isinstance(held, Instance) and node.attr.value in held.attributes:
            return term_of(held.attributes[node.attr.value])
        return term(f".{node.attr.value}", _code(node.value, env, bound))
    if isinstance(node, (cst.Integer, cst.Float, cst.SimpleString)):
        return constant(getattr(node, "evaluated_value", node.value))
    parts = [_code(child, env, bound) for child in children(node)]
    return term(type(node).__name__, *parts)
