"""Initializers and regularizers, in the words of TensorFlow 1, contrib and Keras."""

from __future__ import annotations

from collections.abc import Callable

from ..alike import INITIALIZERS, initializer, made_by, regularizer
from ..terms import Term, constant, term
from ..values import Config, Const, Symbol, Tensor, Time, Value, term_of, with_term
from . import Call, handles

_CONTRIB = ("tf.contrib.layers.", "tf.contrib.slim.")


def _plain(call: Call, of: Callable[[], Term]) -> Value:
    """A value of Python, known before the graph if its arguments are."""
    if call.time is Time.GRAPH:
        return with_term(Tensor(), of())
    return with_term(Config(call.time is Time.MODE), of())


def _number(value: Value) -> Term:
    if isinstance(value, Const) and isinstance(value.value, str):
        return constant(value.value.lower())
    return term_of(value)


@handles(*INITIALIZERS)
def begins(call: Call) -> Value:
    """``tf.truncated_normal_initializer(stddev=0.1)``."""
    given = call.by_name(INITIALIZERS[call.symbol])

    def of() -> Term:
        said = {name: _number(one) for name, one in given.items()}
        return made_by(call.symbol, said)

    return _plain(call, of)


@handles(
    *(f"{place}xavier_initializer" for place in _CONTRIB),
    *(f"{place}xavier_initializer_conv2d" for place in _CONTRIB),
)
def xavier(call: Call) -> Value:
    """Glorot's values under the name of contrib."""
    given = call.by_name(("uniform", "seed", "dtype"))
    uniform = given.get("uniform", Const(True))
    kind = "GlorotNormal" if uniform == Const(False) else "GlorotUniform"
    more = {} if isinstance(uniform, Const) else {"uniform": term_of(uniform)}
    seed = term_of(given.get("seed", Const(None)))
    return _plain(call, lambda: initializer(kind, seed=seed, **more))


@handles(*(f"{place}variance_scaling_initializer" for place in _CONTRIB))
def scaled(call: Call) -> Value:
    """Uniform values, or contrib's truncated normal ones, by the size of a layer."""
    given = call.by_name(("factor", "mode", "uniform", "seed", "dtype"))
    uniform = given.get("uniform", Const(False))
    kinds = {True: "uniform", False: "truncated_normal"}
    kind = term_of(uniform)
    if isinstance(uniform, Const):
        kind = constant(kinds[bool(uniform.value)])
    said = {
        "scale": term_of(given.get("factor", Const(2))),
        "mode": _number(given.get("mode", Const("fan_in"))),
        "distribution": kind,
        "seed": term_of(given.get("seed", Const(None))),
    }
    return _plain(call, lambda: initializer("VarianceScaling", **said))


_HALF = constant(0.5)


@handles(*(f"{place}l2_regularizer" for place in _CONTRIB))
def squares(call: Call) -> Value:
    """Contrib's penalty is half of what Keras' is."""
    scale = call.by_name(("scale", "scope")).get("scale", Const(None))
    of = regularizer(constant(0), term("Multiply", _HALF, term_of(scale)))
    return _called_by_name(call, of)


@handles(*(f"{place}l1_regularizer" for place in _CONTRIB))
def sizes(call: Call) -> Value:
    """The same penalty as that of Keras."""
    scale = call.by_name(("scale", "scope")).get("scale", Const(None))
    return _called_by_name(call, regularizer(term_of(scale), constant(0)))


def _called_by_name(call: Call, of: Term) -> Value:
    """A function of a variable, which code may call itself."""
    if call.time is Time.GRAPH:
        return with_term(Tensor(), of)
    return with_term(Symbol(f"{call.symbol}()"), of)


@handles(
    *(f"tf.keras.regularizers.{name}" for name in ("l1", "l2", "l1_l2")),
    *(f"tf.keras.regularizers.{name}" for name in ("L1", "L2", "L1L2")),
)
def penalty(call: Call) -> Value:
    """``tf.keras.regularizers.l2(0.01)``."""
    kind = call.symbol.rpartition(".")[2].lower().replace("_", "")
    usual = Const(0.01)
    if kind == "l1l2":
        legacy = call.symbol.endswith("l1_l2")
        given = call.by_name(("l1", "l2"))
        nothing = usual if legacy else Const(0)
        first, second = given.get("l1", nothing), given.get("l2", nothing)
    else:
        given = call.by_name((kind, "l"))
        amount = given.get(kind, given.get("l", usual))
        first = amount if kind == "l1" else Const(0)
        second = amount if kind == "l2" else Const(0)
    return _plain(call, lambda: regularizer(term_of(first), term_of(second)))
