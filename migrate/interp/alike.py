"""What is the same in TensorFlow 1 and in Keras, though it is said in other words."""

from __future__ import annotations

from collections.abc import Mapping

from .terms import Term, constant, term
from .values import Const, Symbol, Value, term_of

__all__ = ["FROM_SCOPE", "STARTS", "initializer", "layer_term", "regularizer"]

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


def initializer(kind: str, **given: Term) -> Term:
    """Values that a variable begins with, by the class of Keras that makes them."""
    seed = constant(None)
    parts = [term(f"{n}=", one) for n, one in sorted(given.items()) if one is not seed]
    return term(f"initial {kind}", *parts)


def regularizer(first: Term, second: Term) -> Term:
    """A penalty on the absolute values of a variable, and one on their squares."""
    return term("penalty", first, second)


_NO_PENALTY = regularizer(constant(0), constant(0))
_BY_NAME = {
    "zeros": initializer("Zeros"),
    "ones": initializer("Ones"),
    "glorot_uniform": initializer("GlorotUniform"),
    "glorot_normal": initializer("GlorotNormal"),
    "he_normal": initializer("HeNormal"),
    "he_uniform": initializer("HeUniform"),
    "lecun_normal": initializer("LecunNormal"),
    "lecun_uniform": initializer("LecunUniform"),
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
        return _BY_NAME.get(value.value, term_of(value))
    return term_of(value)


def _activation(value: Value) -> Term:
    if isinstance(value, Const) and isinstance(value.value, str):
        return term(f"activation {value.value}")
    if isinstance(value, Symbol):
        for place in _ACTIVATIONS:
            if value.name.startswith(place):
                return term(f"activation {value.name.removeprefix(place)}")
    return term_of(value)
