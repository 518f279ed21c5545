"""Python's own functions, and those of its library that take functions."""

from __future__ import annotations

from ..arguments import Argument, element_of
from ..terms import term
from ..values import (
    Config,
    Const,
    Each,
    Function,
    Instance,
    Partial,
    Property,
    Seq,
    Symbol,
    Time,
    Value,
    join,
    loose,
    term_of,
)
from . import Call, handles


@handles("builtins.")
def builtin(call: Call) -> Value:
    """A function that is known as late as its arguments."""
    return loose(call.time)


@handles("builtins.isinstance", "builtins.callable", "builtins.hasattr")
def question(call: Call) -> Value:
    """Whether a tensor is there, or of what kind, is known before the graph is."""
    return Config(call.time is not Time.SETUP)


@handles("builtins.super")
def above(call: Call) -> Value:
    """The object as one of the class above."""
    owner = call.env.find("self")
    if not isinstance(owner, Instance):
        return Config()
    bases = call.evaluator.bases(owner)
    return bases[0] if bases else Config()


@handles("builtins.print", "builtins.open")
def nothing(call: Call) -> Value:
    """A call without a value."""
    return Const(None) if call.symbol.endswith("print") else Config()


@handles("collections.namedtuple", "typing.NamedTuple")
def record(call: Call) -> Value:
    """A class that is called with the values it holds."""
    return Symbol("collections.a_record")


@handles("builtins.zip")
def zipped(call: Call) -> Value:
    """Several things gone through at once."""
    return Each(Seq(tuple(element_of(one.value) for one in call.arguments)))


@handles("builtins.enumerate")
def enumerated(call: Call) -> Value:
    """Elements with their numbers."""
    if not call.arguments:
        return Config()
    given = call.arguments[0].value
    place = Config(term=term("place", term_of(given)))
    return Each(Seq((place, element_of(given))))


@handles(*(f"builtins.{n}" for n in ("iter", "list", "reversed", "sorted", "tuple")))
def same(call: Call) -> Value:
    """The same elements."""
    return Each(element_of(call.arguments[0].value)) if call.arguments else Config()


@handles("builtins.next")
def following(call: Call) -> Value:
    """One of the elements."""
    return element_of(call.arguments[0].value) if call.arguments else Config()


@handles("builtins.map")
def mapped(call: Call) -> Value:
    """A function that is called on each element."""
    if len(call.arguments) < 2:
        return Config()
    function, *rest = call.arguments
    given = [Argument(element_of(one.value), one.node) for one in rest]
    found = call.evaluator.call(function.value, call.node, given, call.env)
    notes = call.evaluator.notes
    if call.node in notes.made:
        return call.unknown("layers made by `map`")
    return Each(found)


@handles("functools.partial")
def partial(call: Call) -> Value:
    """A function with some of its arguments."""
    if not call.arguments or any(one.star for one in call.arguments):
        return call.unknown("a partial whose arguments are not written out")
    function, *rest = call.arguments
    if isinstance(function.value, (Symbol, Partial)):
        return Partial(function.value, tuple(rest))
    if not isinstance(function.value, Function):
        return function.value
    known = function.value
    plain = tuple(one.value for one in rest if one.keyword is None)
    named = tuple((one.keyword, one.value) for one in rest if one.keyword is not None)
    return Function(
        known.node,
        known.module,
        known.env,
        (*known.args, *plain),
        (*known.keywords, *named),
        known.owner,
    )


# Places of TensorFlow whose functions make no variables, or which belong to no model.
_PLAIN_PLACES = ("tf.losses", "tf.math", "tf.metrics", "tf.nn", "tf.train")


@handles("builtins.property", "functools.cached_property")
def read(call: Call) -> Value:
    """``property(function)``."""
    function = call.given("fget", 0)
    return Property(function) if isinstance(function, Function) else Config()


@handles("builtins.setattr")
def set_by_name(call: Call) -> Value:
    """``setattr(self, "_cache_net", net)``."""
    given = [one.value for one in call.arguments]
    if len(given) == 3:
        holder, name, value = given
        if isinstance(holder, Instance) and isinstance(name, Const):
            known = holder.attributes.get(str(name.value))
            holder.attributes[str(name.value)] = join(known, value)
    return Const(None)


@handles("builtins.getattr")
def looked_up(call: Call) -> Value:
    """``getattr(tf.train, name + "Optimizer")``: one of a place, by its name."""
    place = call.arguments[0].value if call.arguments else None
    name = call.given("", 1)
    if isinstance(place, Instance) and isinstance(name, Const):
        held = place.attributes.get(str(name.value))
        if held is not None:
            return join(held, call.given("", 2))
    if isinstance(place, Instance) and len(call.arguments) == 2:
        return Config()  # one of its methods
    if isinstance(place, Symbol) and place.name in _PLAIN_PLACES:
        return Symbol(f"{place.name}.by_name")
    return builtin(call)
