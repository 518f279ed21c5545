"""Optimizers: of `tf.train`, of `tf.contrib`, and those that `tf.keras` had in TF 1.

Where today's Keras class takes the same steps with the right arguments, it is that;
otherwise it is a class of the training part `optimizers`.
"""

from __future__ import annotations

from dataclasses import replace

from .code import UNKNOWN, Arguments, Code, Refused, call, grouped, is_absent, literal

_TRAIN = "tf.train."
_KERAS = "tf.keras.optimizers."
_OPT = "tf.contrib.opt."
_LAST = ("use_locking", "name")
_BY_NAME = "tf.estimator.get_optimizer_instance"
_BETAS = ("learning_rate", "beta1", "beta2", "epsilon", *_LAST)
_OF_KERAS = ("name", "lr", "decay", "clipnorm", "clipvalue")
_REGULARIZED = ("l1_regularization_strength", "l2_regularization_strength")
_FTRL = ("learning_rate", "learning_rate_power", "initial_accumulator_value")

CLIP = "tf.contrib.estimator.clip_gradients_by_norm"
CLIP_PARAMETERS = ("optimizer", "clip_norm")
TOGETHER = "gradients are clipped when those of all replicas are added up"

# Parameters by position, with those that are given by name alone at the end.
SIGNATURES: dict[str, tuple[str, ...]] = {
    _TRAIN + "AdadeltaOptimizer": ("learning_rate", "rho", "epsilon", *_LAST),
    _TRAIN + "AdagradOptimizer": ("learning_rate", "initial_accumulator_value", *_LAST),
    _TRAIN + "AdamOptimizer": _BETAS,
    _TRAIN + "FtrlOptimizer": (
        *_FTRL, *_REGULARIZED, *_LAST, "accum_name", "linear_name",
        "l2_shrinkage_regularization_strength",
    ),
    _TRAIN + "GradientDescentOptimizer": ("learning_rate", *_LAST),
    _TRAIN + "MomentumOptimizer": (
        "learning_rate", "momentum", *_LAST, "use_nesterov",
    ),
    _TRAIN + "ProximalAdagradOptimizer": (
        "learning_rate", "initial_accumulator_value", *_REGULARIZED, *_LAST,
    ),
    _TRAIN + "RMSPropOptimizer": (
        "learning_rate", "decay", "momentum", "epsilon", "use_locking", "centered",
        "name",
    ),
    _OPT + "AdaMaxOptimizer": _BETAS,
    _OPT + "AdamWOptimizer": ("weight_decay", *_BETAS),
    _OPT + "LazyAdamOptimizer": _BETAS,
    _KERAS + "Adadelta": ("learning_rate", "rho", "epsilon", *_OF_KERAS),
    _KERAS + "Adagrad": (
        "learning_rate", "initial_accumulator_value", "epsilon", *_OF_KERAS,
    ),
    _KERAS + "Adam": (
        "learning_rate", "beta_1", "beta_2", "epsilon", "amsgrad", *_OF_KERAS,
    ),
    _KERAS + "Adamax": ("learning_rate", "beta_1", "beta_2", "epsilon", *_OF_KERAS),
    _KERAS + "Ftrl": (
        *_FTRL, *_REGULARIZED, "name", "l2_shrinkage_regularization_strength",
        *_OF_KERAS[1:],
    ),
    _KERAS + "RMSprop": (
        "learning_rate", "rho", "momentum", "epsilon", "centered", *_OF_KERAS,
    ),
    _KERAS + "SGD": ("learning_rate", "momentum", "nesterov", *_OF_KERAS),
    _BY_NAME: ("optimizer", "learning_rate"),
}  # fmt: skip

# Optimizers that have a name of their own: canned Estimators and `optimize_loss`.
NAMES = {
    "Adagrad": _TRAIN + "AdagradOptimizer",
    "Adam": _TRAIN + "AdamOptimizer",
    "Ftrl": _TRAIN + "FtrlOptimizer",
    "Momentum": _TRAIN + "MomentumOptimizer",  # of 0.9, and only for `optimize_loss`
    "RMSProp": _TRAIN + "RMSPropOptimizer",
    "SGD": _TRAIN + "GradientDescentOptimizer",
}

# What Keras calls parameters that were called otherwise.
_RENAMED = {"beta1": "beta_1", "beta2": "beta_2", "use_nesterov": "nesterov"}
# Defaults of TensorFlow 1 for what has others here, or none.
_OLD_DEFAULTS = {
    _TRAIN + "AdadeltaOptimizer": {"epsilon": "1e-8"},
    _TRAIN + "AdagradOptimizer": {"epsilon": "0.0"},
    _TRAIN + "AdamOptimizer": {"epsilon": "1e-8"},
    _OPT + "AdaMaxOptimizer": {"epsilon": "1e-8"},
    _OPT + "AdamWOptimizer": {"epsilon": "1e-8"},
    _OPT + "LazyAdamOptimizer": {"epsilon": "1e-8"},
}
_REQUIRED = (
    _TRAIN + "AdagradOptimizer",
    _TRAIN + "FtrlOptimizer",
    _TRAIN + "GradientDescentOptimizer",
    _TRAIN + "MomentumOptimizer",
    _TRAIN + "ProximalAdagradOptimizer",
    _TRAIN + "RMSPropOptimizer",
)
# Defaults of today's classes, which nobody has to write.
_DEFAULTS = {
    "amsgrad": False,
    "beta_1": 0.9,
    "beta_2": 0.999,
    "centered": False,
    "decay": 0.9,
    "epsilon": 1e-7,
    "initial_accumulator_value": 0.1,
    "l1_regularization_strength": 0.0,
    "l2_regularization_strength": 0.0,
    "l2_shrinkage_regularization_strength": 0.0,
    "learning_rate_power": -0.5,
    "momentum": 0.0,
    "nesterov": False,
}
_DEFAULT_OF = {
    ("RMSProp", "rho"): 0.9,
    ("RMSProp", "epsilon"): 1e-10,
    ("Adadelta", "rho"): 0.95,
}
_CLIPPED = (
    "with several replicas `{}` clips the sum of their gradients, where every replica "
    "clipped its own"
)


def optimizer(symbol: str, arguments: Arguments, *, schedule: bool, rows: bool) -> Code:
    """The optimizer that takes the same steps.

    `schedule`: the learning rate is a schedule object. `rows`: some gradients may be
    those of looked-up rows.
    """
    if symbol in (_BY_NAME, "tf.contrib.layers.optimize_loss"):
        return _named(symbol, arguments, schedule=schedule, rows=rows)
    if symbol not in SIGNATURES:
        raise Refused(f"`{symbol}` has no optimizer with the same steps in Keras")
    short = symbol.rpartition(".")[2].removesuffix("Optimizer")
    given = {name: text for name, text in arguments.items() if not is_absent(text)}
    for name in (*_LAST, "accum_name", "linear_name"):
        given.pop(name, None)
    if symbol.startswith(_KERAS):
        return _of_keras(symbol, short, given, schedule=schedule, rows=rows)
    if symbol in _REQUIRED and "learning_rate" not in given:
        raise Refused(f"`{symbol}` without a learning rate")
    for name, default in _OLD_DEFAULTS.get(symbol, {}).items():
        given.setdefault(name, default)
    if short == "RMSProp" and "decay" in given:
        given = {"rho" if name == "decay" else name: given[name] for name in given}
    if short in ("RMSProp", "ProximalAdagrad", "LazyAdam"):
        return _made(short, given, training=True)
    if short == "Momentum":
        if "momentum" not in given:
            raise Refused(f"`{symbol}` without a momentum")
        own = schedule or rows
        return _made("Momentum" if own else "SGD", given, training=own)
    if short in ("Adadelta", "Ftrl"):
        return _made(short, given, training=rows)
    if short == "GradientDescent":
        return _made("SGD", given)
    if short == "AdaMax":
        _refuse_rows(symbol, rows)
        return _made("Adamax", given)
    if short == "AdamW":
        return _decayed_weights(symbol, given, schedule=schedule, rows=rows)
    return _made(short, given)


def _made(
    name: str, given: Arguments, *, training: bool = False, notes: tuple[str, ...] = ()
) -> Code:
    """The call of an optimizer's class, without arguments that are its defaults."""
    named = {}
    for parameter, text in given.items():
        new = _RENAMED.get(parameter, parameter)
        default = _DEFAULT_OF.get((name, new), _DEFAULTS.get(new, UNKNOWN))
        written = default is UNKNOWN or literal(text) != default
        if new != "learning_rate" and written:
            named[new] = text
    rate = (given["learning_rate"],) if "learning_rate" in given else ()
    if training:
        return Code(call(name, *rate, **named), frozenset({name}), notes)
    return Code(call(f"tf_keras.optimizers.{name}", *rate, **named), notes=notes)


def _refuse_rows(symbol: str, rows: bool) -> None:
    if rows:
        raise Refused(
            f"`{symbol}` on embeddings: Keras moves rows that a batch does not look at"
        )


def _named(symbol: str, arguments: Arguments, *, schedule: bool, rows: bool) -> Code:
    """The optimizer that TensorFlow 1 made of a name."""
    text = arguments.get("optimizer", "None")
    rate = arguments.get("learning_rate", "None")
    name = literal(text)
    if name is UNKNOWN:
        rated = None if symbol == _BY_NAME or rate == "None" else "True"
        made = call("optimizer_named", text, rate, rated=rated)
        return Code(made, frozenset({"optimizer_named"}))
    if name not in NAMES or (name == "Momentum" and symbol == _BY_NAME):
        raise Refused(f"`{symbol}` with the optimizer {text}")
    given = {"learning_rate": rate}
    if name == "Momentum":
        given["momentum"] = "0.9"
    return optimizer(NAMES[name], given, schedule=schedule, rows=rows)


def _decayed_weights(
    symbol: str, given: dict[str, str], *, schedule: bool, rows: bool
) -> Code:
    """Adam after a decay of weights that the learning rate does not scale.

    Keras scales it by the rate of the step, and decays rows that a batch does not have.
    """
    if "weight_decay" not in given:
        raise Refused(f"`{symbol}` without a weight decay")
    if schedule or rows:
        return _made("DecayedAdam", given, training=True)
    decay, rate = given.pop("weight_decay"), given.get("learning_rate", "0.001")
    scaled = {**given, "weight_decay": f"{grouped(decay)} / {grouped(rate)}"}
    return _made("AdamW", scaled)


def _of_keras(
    symbol: str, short: str, given: dict[str, str], *, schedule: bool, rows: bool
) -> Code:
    """An optimizer of TF 1's Keras."""
    if "lr" in given:
        given = {"learning_rate": given.pop("lr"), **given}
    decay = given.pop("decay", "0")
    if literal(decay) != 0:
        if short == "Nadam":
            raise Refused(f"`{symbol}` with a `decay`, which its schedule works on")
        if schedule:
            raise Refused(f"`{symbol}` with a `decay` of a rate that changes by itself")
        rate = given.get("learning_rate", "0.01" if short == "SGD" else "0.001")
        made = call("tf_keras.optimizers.schedules.InverseTimeDecay", rate, "1", decay)
        given, schedule = {**given, "learning_rate": made}, True
    clipped = [name for name in ("clipnorm", "clipvalue") if name in given]
    if len(clipped) == 2:
        raise Refused(f"`{symbol}` with both `clipnorm` and `clipvalue`")
    notes = tuple(_CLIPPED.format(name) for name in clipped)
    moving = literal(given.get("momentum", "0")) != 0
    if short == "SGD" and moving and rows:
        if schedule:
            raise Refused(f"`{symbol}` with momentum and a changing rate on embeddings")
        return _made("Momentum", given, training=True, notes=notes)
    if short == "RMSprop":
        if moving:
            _refuse_rows(symbol, rows)
        return _made("RMSprop", given, training=not moving, notes=notes)
    if short in ("Adadelta", "Ftrl"):
        return _made(short, given, training=rows, notes=notes)
    if short == "Adagrad" and literal(given.get("initial_accumulator_value")) == 0:
        raise Refused(f"`{symbol}` whose accumulators start at zero: epsilon counts")
    if short == "Adamax":
        _refuse_rows(symbol, rows)
    return _made(short, given, notes=notes)


def clipping(code: Code, norm: str) -> Code:
    """An optimizer that clips its gradients, all together, by their norm."""
    if code.training or not code.text.endswith(")"):
        raise Refused("this optimizer cannot clip gradients by their norm")
    text = f"{code.text[:-1]}, global_clipnorm={norm})"
    return replace(code, text=text, notes=(*code.notes, TOGETHER))
