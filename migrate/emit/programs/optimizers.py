"""TF1 optimizers and the Keras optimizers that take the very same steps.

Each entry was checked step by step against the real v1 optimizer; the tests do
so again. Defaults that differ are written out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...plan.program import TF, OptimizerPlan

__all__ = [
    "ConvertedOptimizer",
    "convert_optimizer",
    "is_of_tf1",
]


class ConvertedOptimizer:
    """Source of the Keras optimizer and of what must follow its build."""

    def __init__(self, code: str, state: str = "", note: str | None = None) -> None:
        self.code = code
        self.state = state
        self.note = note


def convert_optimizer(plan: OptimizerPlan, variable: str) -> ConvertedOptimizer:
    """The Keras optimizer for a v1 one; ``variable`` is the name it gets."""
    given = dict(plan.arguments)
    given.pop("use_locking", None)
    given.pop("name", None)
    if is_of_tf1(plan):
        return _of_tf1(plan.symbol.rpartition(".")[2])(given, variable)
    return _CONVERSIONS[plan.symbol](given, variable)


def _call(name: str, arguments: Mapping[str, str]) -> str:
    inside = ", ".join(f"{key}={value}" for key, value in arguments.items())
    return f"{TF}.keras.optimizers.{name}({inside})"


def _adam(given: dict[str, str], variable: str) -> ConvertedOptimizer:
    arguments = {"learning_rate": given.get("learning_rate", "0.001")}
    if "beta1" in given:
        arguments["beta_1"] = given["beta1"]
    if "beta2" in given:
        arguments["beta_2"] = given["beta2"]
    # Keras' own default is 1e-7.
    arguments["epsilon"] = given.get("epsilon", "1e-8")
    return ConvertedOptimizer(_call("Adam", arguments))


def _sgd(given: dict[str, str], variable: str) -> ConvertedOptimizer:
    arguments = {"learning_rate": given["learning_rate"]}
    if "momentum" in given:
        arguments["momentum"] = given["momentum"]
    if "use_nesterov" in given and given["use_nesterov"] != "False":
        arguments["nesterov"] = given["use_nesterov"]
    return ConvertedOptimizer(_call("SGD", arguments))


def _rmsprop(given: dict[str, str], variable: str) -> ConvertedOptimizer:
    arguments = {"learning_rate": given["learning_rate"]}
    if "decay" in given:
        arguments["rho"] = given["decay"]
    if "momentum" in given:
        arguments["momentum"] = given["momentum"]
    arguments["epsilon"] = given.get("epsilon", "1e-10")
    if "centered" in given and given["centered"] != "False":
        arguments["centered"] = given["centered"]
    state = (
        "# tf.train.RMSPropOptimizer started its mean squares at one, Keras at zero.\n"
        f"for slot in {variable}.variables:\n"
        '    if "velocity" in slot.name:\n'
        f"        slot.assign({TF}.ones_like(slot))\n"
    )
    return ConvertedOptimizer(_call("RMSprop", arguments), state)


def _adagrad(given: dict[str, str], variable: str) -> ConvertedOptimizer:
    arguments = {"learning_rate": given["learning_rate"]}
    if "initial_accumulator_value" in given:
        arguments["initial_accumulator_value"] = given["initial_accumulator_value"]
    # tf.train.AdagradOptimizer added nothing under the root.
    arguments["epsilon"] = "0.0"
    return ConvertedOptimizer(_call("Adagrad", arguments))


def _adadelta(given: dict[str, str], variable: str) -> ConvertedOptimizer:
    arguments = {"learning_rate": given.get("learning_rate", "0.001")}
    if "rho" in given:
        arguments["rho"] = given["rho"]
    arguments["epsilon"] = given.get("epsilon", "1e-8")
    return ConvertedOptimizer(_call("Adadelta", arguments))


def _ftrl(given: dict[str, str], variable: str) -> ConvertedOptimizer:
    arguments = {"learning_rate": given["learning_rate"]}
    arguments.update(given)
    return ConvertedOptimizer(_call("Ftrl", arguments))


def _keras(name: str) -> Callable[[dict[str, str], str], ConvertedOptimizer]:
    """The class of the same name; TF1 gave rates two names and a decay."""

    def converted(given: dict[str, str], variable: str) -> ConvertedOptimizer:
        arguments = dict(given)
        rate = arguments.pop("lr", None)
        decay = arguments.pop("decay", "0")
        if rate is not None:
            arguments = {"learning_rate": rate, **arguments}
        if decay not in ("0", "0.", "0.0", ".0"):
            rate = arguments.get("learning_rate", _KERAS_RATES[name])
            schedule = f"{TF}.keras.optimizers.schedules.InverseTimeDecay"
            arguments = {
                **arguments,
                "learning_rate": f"{schedule}({rate}, 1, {decay})",
            }
        return ConvertedOptimizer(_call(name, arguments))

    return converted


def _of_tf1(name: str) -> Callable[[dict[str, str], str], ConvertedOptimizer]:
    """The class that TF 1.15 had; tf_keras keeps it beside the one of today."""

    def converted(given: dict[str, str], variable: str) -> ConvertedOptimizer:
        arguments = dict(given)
        rate = arguments.pop("lr", None)
        if rate is not None:
            arguments = {"learning_rate": rate, **arguments}
        return ConvertedOptimizer(_call(f"legacy.{name}", arguments))

    return converted


def is_of_tf1(plan: OptimizerPlan) -> bool:
    """The steps are those of a class that ``tf_keras.optimizers.legacy`` keeps.

    Today's Adam and SGD take the same ones, but clip what the replicas have summed up.
    """
    home, _, name = plan.symbol.rpartition(".")
    clips = any(key in ("clipnorm", "clipvalue") for key, _ in plan.arguments)
    return home == "tf.keras.optimizers" and (name not in _KERAS_RATES or clips)


_KERAS_RATES = {"Adam": "0.001", "SGD": "0.01"}
_CONVERSIONS = {
    "tf.keras.optimizers.Adam": _keras("Adam"),
    "tf.keras.optimizers.SGD": _keras("SGD"),
    "tf.train.AdadeltaOptimizer": _adadelta,
    "tf.train.FtrlOptimizer": _ftrl,
    "tf.train.AdamOptimizer": _adam,
    "tf.train.GradientDescentOptimizer": _sgd,
    "tf.train.MomentumOptimizer": _sgd,
    "tf.train.RMSPropOptimizer": _rmsprop,
    "tf.train.AdagradOptimizer": _adagrad,
}
