"""Keras optimizers that ``compile`` was given, by name or as an object.

TF 1.15's take the steps that ``tf_keras.optimizers.legacy`` repeats; today's classes
repeat those of Adam and SGD as well. Of RMSprop, for one, the epsilon moved under the
root, which is no small matter where gradients are small.
"""

from __future__ import annotations

import ast

import libcst as cst

from ..code.arguments import UnknownArguments, is_none, match_arguments
from ..code.tree import Tree
from ..program import OptimizerPlan
from ..sites import Blocked

__all__ = ["read_keras_optimizer"]

_HOME = "tf.keras.optimizers."
# Parameters that stood at the same place in every TF 1.
_POSITIONAL = {
    "Adadelta": ("learning_rate", "rho", "epsilon"),
    "Adagrad": ("learning_rate",),
    "Adam": ("learning_rate", "beta_1", "beta_2", "epsilon"),
    "Adamax": ("learning_rate", "beta_1", "beta_2", "epsilon"),
    "Nadam": ("learning_rate", "beta_1", "beta_2", "epsilon"),
    "RMSprop": ("learning_rate", "rho"),
    "SGD": ("learning_rate", "momentum"),
}
_KEYWORDS = {
    "Adagrad": ("initial_accumulator_value", "epsilon"),
    "Adam": ("amsgrad",),
    "RMSprop": ("momentum", "epsilon", "centered"),
    "SGD": ("nesterov",),
}
_COMMON = ("lr", "decay", "clipnorm", "clipvalue", "name")
# Made by its name alone, this one started from nothing.
_BY_NAME: dict[str, tuple[tuple[str, str], ...]] = {
    "Adagrad": (("initial_accumulator_value", "0.0"),)
}
_NAMED = {name.lower(): name for name in _POSITIONAL}


def read_keras_optimizer(tree: Tree, node: cst.BaseExpression) -> OptimizerPlan | None:
    """The optimizer, or None where it is no Keras optimizer known here.

    The texts of its arguments are those of the source.
    """
    if isinstance(node, cst.SimpleString):
        name = _NAMED.get(str(ast.literal_eval(node.value)).lower())
        if name is None:
            return None
        return OptimizerPlan(_HOME + name, _BY_NAME.get(name, ()))
    value = tree.value(node)
    symbol = tree.symbol(value.func) if isinstance(value, cst.Call) else None
    name = (symbol or "").removeprefix(_HOME)
    if not isinstance(value, cst.Call) or symbol is None or name not in _POSITIONAL:
        return None
    line = tree.line(value)
    first = _POSITIONAL[name]
    if sum(argument.keyword is None for argument in value.args) > len(first):
        reason = f"`{symbol}` with positions that changed their meaning"
        raise Blocked("TFM117", line, reason)
    try:
        given = match_arguments(value, (*first, *_KEYWORDS.get(name, ()), *_COMMON))
    except UnknownArguments as problem:
        raise Blocked("TFM117", line, f"optimizer with {problem}") from None
    return OptimizerPlan(
        symbol,
        tuple((name, tree.code(a)) for name, a in given.items() if not is_none(a)),
        variable=node.value if isinstance(node, cst.Name) else None,
    )
