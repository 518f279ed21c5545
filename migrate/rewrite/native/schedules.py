"""Learning rates that change with the global step: `tf.train` decays and Keras'."""

from __future__ import annotations

from .code import Arguments, Code, Refused, call, grouped, is_absent, literal

_KERAS = "tf_keras.optimizers.schedules."
_OLD_KERAS = "tf.keras.optimizers.schedules."

_DECAY = ("learning_rate", "global_step", "decay_steps")

# Parameters by position. The caller leaves the global step (`x`) out.
SIGNATURES: dict[str, tuple[str, ...]] = {
    "tf.train.cosine_decay": (*_DECAY, "alpha", "name"),
    "tf.train.cosine_decay_restarts": (
        "learning_rate", "global_step", "first_decay_steps", "t_mul", "m_mul", "alpha",
        "name",
    ),
    "tf.train.exponential_decay": (*_DECAY, "decay_rate", "staircase", "name"),
    "tf.train.inverse_time_decay": (*_DECAY, "decay_rate", "staircase", "name"),
    "tf.train.natural_exp_decay": (*_DECAY, "decay_rate", "staircase", "name"),
    "tf.train.piecewise_constant": ("x", "boundaries", "values", "name"),
    "tf.train.piecewise_constant_decay": ("x", "boundaries", "values", "name"),
    "tf.train.polynomial_decay": (
        *_DECAY, "end_learning_rate", "power", "cycle", "name",
    ),
    _OLD_KERAS + "ExponentialDecay": (
        "initial_learning_rate", "decay_steps", "decay_rate", "staircase", "name",
    ),
    _OLD_KERAS + "InverseTimeDecay": (
        "initial_learning_rate", "decay_steps", "decay_rate", "staircase", "name",
    ),
    _OLD_KERAS + "PiecewiseConstantDecay": (
        "boundaries", "values", "name",
    ),
    _OLD_KERAS + "PolynomialDecay": (
        "initial_learning_rate", "decay_steps", "end_learning_rate", "power", "cycle",
        "name",
    ),
}  # fmt: skip

_CLASSES = {
    "cosine_decay": "CosineDecay",
    "cosine_decay_restarts": "CosineDecayRestarts",
    "exponential_decay": "ExponentialDecay",
    "inverse_time_decay": "InverseTimeDecay",
    "natural_exp_decay": "ExponentialDecay",
    "piecewise_constant": "PiecewiseConstantDecay",
    "piecewise_constant_decay": "PiecewiseConstantDecay",
    "polynomial_decay": "PolynomialDecay",
}
# Arguments that have to be there stand by position, the others by name.
_PLAIN = (
    "learning_rate", "initial_learning_rate", "decay_steps", "first_decay_steps",
    "decay_rate", "boundaries", "values",
)  # fmt: skip
# Defaults that are the same in both.
_DEFAULTS = {
    "alpha": 0.0,
    "cycle": False,
    "end_learning_rate": 0.0001,
    "m_mul": 1.0,
    "power": 1.0,
    "staircase": False,
    "t_mul": 2.0,
}


def schedule(symbol: str, arguments: Arguments) -> Code:
    """The Keras schedule that gives the same rate for every step."""
    if symbol not in SIGNATURES:
        raise Refused(f"the learning rate of `{symbol}` has no schedule in Keras")
    short = symbol.rpartition(".")[2]
    given = dict(arguments)
    if short == "natural_exp_decay" and "decay_rate" in given:
        given["decay_rate"] = f"tf.exp(-{grouped(given['decay_rate'])})"
    plain = [name for name in SIGNATURES[symbol] if name in _PLAIN]
    missing = [name for name in plain if is_absent(given.get(name))]
    if missing:
        raise Refused(f"`{symbol}` without `{missing[0]}`")
    named = {
        name: given[name]
        for name in SIGNATURES[symbol]
        if name in _DEFAULTS
        and name in given
        and literal(given[name]) != _DEFAULTS[name]
    }
    made = _KERAS + _CLASSES.get(short, short)
    return Code(call(made, *(given[name] for name in plain), **named))
