"""Learning rates that follow the step, and optimizers that use them."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from ..code.arguments import UnknownArguments, is_none, match_arguments
from ..model_fn.source import Source
from ..program import TF

__all__ = ["GLOBAL_STEPS", "is_decay", "schedule"]

_ATOMS = (cst.Attribute, cst.BaseNumber, cst.Call, cst.Name, cst.Subscript)
Text = Callable[[cst.BaseExpression], str]

GLOBAL_STEPS = (
    "tf.train.get_global_step",
    "tf.train.get_or_create_global_step",
    "tf.contrib.framework.get_global_step",
    "tf.contrib.framework.get_or_create_global_step",
    "tf.train.create_global_step",
)
_DECAYED = ("learning_rate", "global_step", "decay_steps", "decay_rate", "staircase")
_DECAYS: dict[str, tuple[str, tuple[str, ...]]] = {
    "exponential_decay": ("ExponentialDecay", (*_DECAYED, "name")),
    "inverse_time_decay": ("InverseTimeDecay", (*_DECAYED, "name")),
    "polynomial_decay": (
        "PolynomialDecay",
        (
            "learning_rate",
            "global_step",
            "decay_steps",
            "end_learning_rate",
            "power",
            "cycle",
            "name",
        ),
    ),
    "cosine_decay": (
        "CosineDecay",
        ("learning_rate", "global_step", "decay_steps", "alpha", "name"),
    ),
    "cosine_decay_restarts": (
        "CosineDecayRestarts",
        (
            "learning_rate",
            "global_step",
            "first_decay_steps",
            "t_mul",
            "m_mul",
            "alpha",
            "name",
        ),
    ),
    "natural_exp_decay": ("ExponentialDecay", (*_DECAYED, "name")),
    "piecewise_constant": (
        "PiecewiseConstantDecay",
        ("x", "boundaries", "values", "name"),
    ),
}
_DECAYS["piecewise_constant_decay"] = _DECAYS["piecewise_constant"]
_PLAIN = ("learning_rate", "decay_steps", "decay_rate")
_NATURAL = "natural_exp_decay"


def is_decay(symbol: str | None) -> bool:
    """A function of tf.train that gives the rate for a step."""
    return symbol is not None and symbol.removeprefix("tf.train.") in _DECAYS


def schedule(
    source: Source,
    call: cst.Call,
    text: Text,
) -> str:
    """Source of the Keras schedule that gives the same rates.

    Both read the step before it is counted.
    """
    symbol = source.tree.symbol(call.func) or ""
    keras, parameters = _DECAYS[symbol.removeprefix("tf.train.")]
    try:
        given = match_arguments(call, parameters)
    except UnknownArguments as problem:
        raise source.stop(call, f"a learning rate with {problem}") from None
    given_step = given.pop("global_step", None) or given.pop("x", None)
    if not is_step(source, given_step):
        raise source.stop(call, "a learning rate of something else than the step")
    given.pop("name", None)
    parts: list[str] = []
    for name in parameters:
        if name not in given or is_none(given[name]):
            continue
        code = text(given[name])
        if name == "decay_rate" and symbol.endswith(_NATURAL):
            # exp(-rate * step / steps), where Keras takes rate ** (step / steps).
            sign = code if isinstance(given[name], _ATOMS) else f"({code})"
            code = f"{TF}.exp(-{sign})"
        plain = name in ("boundaries", "values") or (
            name in _PLAIN and len(parts) == _PLAIN.index(name)
        )
        parts.append(code if plain else f"{name}={code}")
    return f"{TF}.keras.optimizers.schedules.{keras}({', '.join(parts)})"


def is_step(source: Source, node: cst.BaseExpression | None) -> bool:
    """The expression is the global step."""
    value = source.tree.value(node)
    return isinstance(value, cst.Call) and source.tree.symbol(value.func) in (
        GLOBAL_STEPS
    )


__all__ += ["is_step"]
