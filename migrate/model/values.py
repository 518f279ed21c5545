"""What an expression of a model function may be, as far as lifting has to know.

Three things are told apart: what is known before any graph is made (constants and
configuration), what is only known in one (tensors and their sizes), and what makes
variables.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import libcst as cst

from ..project.facts import ParsedModule
from .terms import Term, constant, term


class Time(enum.IntEnum):
    """When a value is known: the later of two times is the greater."""

    # Before any graph: it may be an argument of a constructor.
    SETUP = 0
    # The same, but another one for each mode.
    MODE = 1
    # Within the graph.
    GRAPH = 2


@dataclass(frozen=True, eq=False)
class Value:
    """Base of all values."""

    # What it is computed of, where that is asked for.
    term: Term | None = field(default=None, compare=False, repr=False, kw_only=True)


@dataclass(frozen=True)
class Const(Value):
    """A number, string, truth value or None that the source tells."""

    value: object


@dataclass(frozen=True)
class Config(Value):
    """A value of Python that the source does not tell: of ``params``, a flag, ..."""

    by_mode: bool = False


@dataclass(frozen=True)
class Tensor(Value):
    """Something of the graph, or a size that only the graph tells."""


@dataclass(frozen=True)
class Symbol(Value):
    """A name of TensorFlow (``tf.layers.dense``) or of another package."""

    name: str


@dataclass(frozen=True)
class Argument:
    """One argument: its value, its source, and its keyword or star."""

    value: Value
    node: cst.BaseExpression
    keyword: str | None = None
    star: str = ""


@dataclass(frozen=True)
class Layer(Value):
    """An object that makes variables when it is called; of Keras or of tf.layers.

    ``given`` are the arguments that it was made with, as far as the source tells.
    """

    symbol: str
    keras: bool
    given: tuple[tuple[str, str], ...] = ()
    # The author's own: it stays where it is made, among the tensors.
    stays: bool = False
    # Where it was made; in which loops, and behind which tests.
    made: tuple[object, ...] = field(default=(), compare=False, repr=False)
    loops: tuple[Term, ...] = field(default=(), compare=False, repr=False)
    tests: tuple[Term, ...] = field(default=(), compare=False, repr=False)
    # Arguments of its call that are False where they are not given.
    quiet: tuple[str, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True)
class Cell(Value):
    """An object that makes variables when it, or a function that it is given to, is
    called: a cell of a recurrent network, a decoder, an attention.
    """

    symbol: str


@dataclass(frozen=True)
class Partial(Value):
    """A function of TensorFlow with some of its arguments, before or behind others."""

    function: Value
    arguments: tuple[Argument, ...]
    behind: bool = False


@dataclass(frozen=True, eq=False)
class Env:
    """The names of one call of a function, and those of the functions around it."""

    module: ParsedModule
    names: dict[str, Value]
    outer: Env | None = None

    def holder(self, name: str) -> Env | None:
        """Where a name is bound: here, or by a function around."""
        env: Env | None = self
        while env is not None and name not in env.names:
            env = env.outer
        return env

    def find(self, name: str) -> Value | None:
        """The value of a name that some function binds."""
        held = self.holder(name)
        return None if held is None else held.names[name]


@dataclass(frozen=True)
class Function(Value):
    """A function of the project with what it sees and what it has been given."""

    node: cst.FunctionDef | cst.Lambda
    module: ParsedModule
    env: Env | None = field(default=None, compare=False)
    args: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()
    # The object whose method it is.
    owner: Value | None = None


@dataclass(frozen=True, eq=False)
class Instance(Value):
    """A class of the project, or an object of one."""

    node: cst.ClassDef
    module: ParsedModule
    attributes: dict[str, Value] = field(default_factory=dict)
    made: bool = False
    # What its methods see of the function that it is defined in.
    env: Env | None = None


@dataclass(frozen=True)
class Property(Value):
    """What a class has under a name that is read: its function is called then."""

    function: Function


@dataclass(frozen=True)
class Seq(Value):
    """A tuple or list whose elements are known."""

    items: tuple[Value, ...]


@dataclass(frozen=True)
class Dict(Value):
    """A dict with constant keys whose values are known."""

    items: tuple[tuple[object, Value], ...]


@dataclass(frozen=True)
class Each(Value):
    """Something to go through, each of whose elements is such a value."""

    item: Value


@dataclass(frozen=True)
class Choice(Value):
    """One of several values, by what is only known when the program runs."""

    options: tuple[Value, ...]
    by_mode: bool = False


@dataclass(frozen=True, eq=False)
class Unknown(Value):
    """What is not understood: the reason, and where that is."""

    reason: str
    node: cst.CSTNode
    module: ParsedModule


def time_of(value: Value) -> Time:
    """When a value is known."""
    if isinstance(value, Config):
        return Time.MODE if value.by_mode else Time.SETUP
    if isinstance(value, (Tensor, Unknown, Cell)):
        return Time.GRAPH
    if isinstance(value, Layer):
        return Time.GRAPH if value.stays else Time.SETUP
    if isinstance(value, Partial):
        return latest(one.value for one in value.arguments)
    if isinstance(value, Seq):
        return latest(value.items)
    if isinstance(value, Choice):
        return max(Time(value.by_mode), latest(value.options))
    if isinstance(value, Each):
        return time_of(value.item)
    if isinstance(value, Dict):
        return latest(item for _, item in value.items)
    return Time.SETUP


def latest(values: Iterable[Value]) -> Time:
    """When all of some values are known."""
    return max(map(time_of, values), default=Time.SETUP)


def loose(time: Time) -> Value:
    """A value of which nothing but its time is known."""
    return Tensor() if time is Time.GRAPH else Config(time is Time.MODE)


def join(first: Value | None, second: Value | None) -> Value:
    """What a name is after two branches, or over several calls."""
    if first is None or second is None:
        found = first if second is None else second
        assert found is not None
        return found
    if first is second:
        return first
    if first.term is None and second.term is None:
        return _joined(first, second)
    found = _joined(first, second)
    one, other = term_of(first), term_of(second)
    return found if one is other else with_term(found, term("either", one, other))


def _joined(first: Value, second: Value) -> Value:
    """The same, whatever the values are computed of."""
    if first == second and not isinstance(first, Seq):
        return first
    for one in (first, second):
        if isinstance(one, Unknown):
            return one
    if isinstance(first, Each) or isinstance(second, Each):
        parts = [one.item for one in (first, second) if isinstance(one, Each)]
        others = [one for one in (first, second) if not isinstance(one, Each)]
        if all(one == Config() for one in others):
            # A list that is filled later.
            return Each(join(parts[0], parts[-1]))
    options = tuple(dict.fromkeys((*options_of(first), *options_of(second))))
    if any(isinstance(one, (*CALLED, Property)) for one in options):
        return options[0] if len(options) == 1 else Choice(options)
    if (
        isinstance(first, Seq)
        and isinstance(second, Seq)
        and len(first.items) == len(second.items)
    ):
        return Seq(tuple(map(join, first.items, second.items)))
    return loose(latest((first, second)))


def chosen(test: Value, first: Value | None, second: Value | None) -> Value:
    """What a name is behind a test: one of two values, or one that may not be there."""
    found = join(first, second)
    same = None in (first, second) or first is second
    return found if same or time_of(test) is not Time.MODE else of_mode(found)


def of_mode(value: Value) -> Value:
    """A value that is another one for each mode."""
    if isinstance(value, (Config, Choice)):
        return replace(value, by_mode=True)
    return Seq(tuple(map(of_mode, value.items))) if isinstance(value, Seq) else value


def options_of(value: Value) -> tuple[Value, ...]:
    """What a value may be."""
    return value.options if isinstance(value, Choice) else (value,)


def with_term(value: Value, of: Term) -> Value:
    """A value, and what it is computed of; an object of a class is known by itself."""
    return value if isinstance(value, Instance) else replace(value, term=of)


def term_of(value: Value) -> Term:
    """What a value is computed of, as far as it was told."""
    if value.term is not None:
        return value.term
    if isinstance(value, Const):
        return constant(value.value)
    if isinstance(value, Symbol):
        return term(value.name)
    if isinstance(value, Seq):
        return term("()", *map(term_of, value.items))
    if isinstance(value, Dict):
        parts = [term(f"{key!r}:", term_of(item)) for key, item in value.items]
        return term("{}", *parts)
    if isinstance(value, Each):
        return term("each", term_of(value.item))
    if isinstance(value, (Function, Instance)):
        name = getattr(value.node, "name", None)
        return term(f"{name.value if name is not None else 'lambda'}")
    return term(type(value).__name__.lower())


# What may be called, so that it matters which one it is.
CALLED = (Function, Choice, Layer, Symbol, Partial, Cell, Instance)


def one_of(values: Sequence[Value], others: Sequence[Value] = ()) -> Value:
    """One of some values: which, only the program knows, by what others are."""
    found = reduce(join, values)
    if isinstance(found, CALLED):
        return found if latest(others) is not Time.MODE else of_mode(found)
    return loose(latest([*values, *others]))


def key_of(value: Value) -> object:
    """What tells a value from others: itself, or its identity where it has no hash."""
    try:
        hash(value)
    except TypeError:
        return id(value)
    return value
