"""What is the same in TensorFlow 1 and in Keras, though it is said in other words."""

from __future__ import annotations

from collections.abc import Mapping

from .terms import Term, constant, term
from .values import Const, Symbol, Value, term_of

__all__ = [
    "FROM_SCOPE",
    "INITIALIZERS",
    "STARTS",
    "initializer",
    "layer_term",
    "made_by",
    "regularizer",
]

# What layers say nothing of, because nothing else is meant.
_USUAL: dict[str, Term] = {
    "activation": constant(None),
    "activity_regularizer": constant(None),
    "data_format": constant("channels_last"),
    "trainable": constant(True),
    "use_bias": constant(True),
}
# Arguments that say how a layer computes, or which variables it shares by their names.
_SILENT_NAMES = """
_reuse adjustment fused renorm renorm_clipping renorm_momentum reuse virtual_batch_size
"""
_SILENT = frozenset(_SILENT_NAMES.split())
FROM_SCOPE = term("as the scope says")
# What a layer of tf.layers leaves to the scope around it, if it is not told.
STARTS = {
    **dict.fromkeys(
        ("Dense", "Conv1D", "Conv2D", "Conv3D", "Conv2DTranspose", "Conv3DTranspose"),
        ("kernel_initializer",),
    ),
    **dict.fromkeys(
        ("SeparableConv1D", "SeparableConv2D"),
        ("depthwise_initializer", "pointwise_initializer"),
    ),
}
_KERNELS = {name for names in STARTS.values() for name in names}
_ZEROS = ("bias_initializer", "beta_initializer", "moving_mean_initializer")
_ONES = ("gamma_initializer", "moving_variance_initializer")


# Class of Keras -> its parameters in order, with what they are in TensorFlow 1 and in
# Keras where nothing is said.
_Defaults = tuple[tuple[str, object, object], ...]
_NORMAL: _Defaults = (("mean", 0, 0), ("stddev", 1, 0.05), ("seed", None, None))
_SEED: _Defaults = (("seed", None, None),)
_KINDS: dict[str, _Defaults] = {
    "Zeros": (),
    "Ones": (),
    "Constant": (("value", 0, 0),),
    "RandomNormal": _NORMAL,
    "TruncatedNormal": _NORMAL,
    "RandomUniform": (("minval", 0, -0.05), ("maxval", 1, 0.05), *_SEED),
    "VarianceScaling": (
        ("scale", 1, 1),
        ("mode", "fan_in", "fan_in"),
        ("distribution", "truncated_normal", "truncated_normal"),
        *_SEED,
    ),
    "Orthogonal": (("gain", 1, 1), *_SEED),
    "Identity": (("gain", 1, 1),),
    "GlorotUniform": _SEED,
    "GlorotNormal": _SEED,
    "HeNormal": _SEED,
    "HeUniform": _SEED,
    "LecunNormal": _SEED,
    "LecunUniform": _SEED,
}


def _snake(kind: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in kind).lstrip("_")


_LEGACY = {
    name: kind
    for kind in _KINDS
    for name in (f"tf.{_snake(kind)}_initializer", f"tf.initializers.{_snake(kind)}")
}
_KERAS = {
    name: kind
    for kind in _KINDS
    for name in (
        f"tf.keras.initializers.{kind}",
        f"tf.keras.initializers.{_snake(kind)}",
    )
}

# Functions and classes that make initializers, with their parameters.
INITIALIZERS = {
    symbol: tuple(name for name, _, _ in _KINDS[kind])
    for symbol, kind in (*_LEGACY.items(), *_KERAS.items())
}


def initializer(kind: str, **given: Term) -> Term:
    """Values that a variable begins with, by the class of Keras that makes them."""
    seed = constant(None)
    parts = [term(f"{n}=", one) for n, one in sorted(given.items()) if one is not seed]
    return term(f"initial {kind}", *parts)


def made_by(symbol: str, given: Mapping[str, Term]) -> Term:
    """What one of `INITIALIZERS` makes with these arguments."""
    legacy = symbol in _LEGACY
    kind = (_LEGACY if legacy else _KERAS)[symbol]
    said = {
        name: constant(first if legacy else other)
        for name, first, other in _KINDS[kind]
    }
    said.update(given)
    for name in ("dtype", "verify_shape", "partition_info"):
        said.pop(name, None)
    return initializer(kind, **said)


def regularizer(first: Term, second: Term) -> Term:
    """A penalty on the absolute values of a variable, and one on their squares."""
    return term("penalty", first, second)


_NO_PENALTY = regularizer(constant(0), constant(0))
# Keras knows initializers by such names.
_BY_NAME = {
    _snake(kind): made_by(f"tf.keras.initializers.{kind}", {}) for kind in _KINDS
}
_ACTIVATIONS = ("tf.nn.", "tf.keras.activations.", "tf.math.", "tf.")


def layer_term(kind: str, given: Mapping[str, Value], *, left_to_scope: bool) -> Term:
    """A layer by its class of Keras, and the arguments that say something.

    ``left_to_scope``: a kernel of which nothing is said begins as the scope says.
    """
    said: dict[str, Term] = {}
    for name, value in given.items():
        if name in _SILENT:
            continue
        of = _argument(name, value)
        if of is not None and of is not _USUAL.get(name):
            said[name] = of
    if not left_to_scope:
        for name in STARTS.get(kind, ()):
            if name not in given:
                said[name] = _BY_NAME["glorot_uniform"]
    parts = [term(f"{name}=", of) for name, of in sorted(said.items())]
    return term(kind, *parts)


def _argument(name: str, value: Value) -> Term | None:
    """An argument in the words of both; None for one that says nothing."""
    of = term_of(value)
    nothing = value == Const(None)
    if name.endswith("_initializer"):
        if name in _KERNELS:
            of = FROM_SCOPE if nothing else _first_values(value)
            return None if of is FROM_SCOPE else of
        usual = "zeros" if name in _ZEROS else "ones" if name in _ONES else ""
        of = of if nothing else _first_values(value)
        return None if nothing or of is _BY_NAME.get(usual) else of
    if name.endswith(("_regularizer", "_constraint")):
        return None if nothing or of is _NO_PENALTY else of
    if name == "activation":
        return _activation(value)
    return None if nothing and name == "name" else of


def _first_values(value: Value) -> Term:
    if isinstance(value, Const) and isinstance(value.value, str):
        return _BY_NAME.get(_snake(value.value), term_of(value))
    if isinstance(value, Symbol) and value.name in INITIALIZERS:
        return made_by(value.name, {})
    return term_of(value)


def _activation(value: Value) -> Term:
    if isinstance(value, Const) and isinstance(value.value, str):
        return term(f"activation {value.value}")
    if isinstance(value, Symbol):
        for place in _ACTIVATIONS:
            if value.name.startswith(place):
                return term(f"activation {value.name.removeprefix(place)}")
    return term_of(value)
