"""Keras optimizers that ``compile`` was given, by name or as an object.

Only those whose steps today's class repeats: Adam and SGD. RMSprop without momentum
adds its epsilon under the root today and beside it then, which is no small matter
where gradients are small.
"""

from __future__ import annotations

import ast

import libcst as cst

from .arguments import UnknownArguments, is_none, match_arguments
from .program import OptimizerPlan
from .sites import Blocked
from .tree import Tree

__all__ = ["read_keras_optimizer"]

# Parameters that stood at the same place in every TF 1, and keywords.
_POSITIONAL = {
    "tf.keras.optimizers.Adam": ("learning_rate", "beta_1", "beta_2", "epsilon"),
    "tf.keras.optimizers.SGD": ("learning_rate", "momentum"),
}
_KEYWORDS = {
    "tf.keras.optimizers.Adam": ("lr", "decay", "amsgrad", "name"),
    "tf.keras.optimizers.SGD": ("lr", "decay", "nesterov", "name"),
}
_NAMED = {"adam": "tf.keras.optimizers.Adam", "sgd": "tf.keras.optimizers.SGD"}


def read_keras_optimizer(tree: Tree, node: cst.BaseExpression) -> OptimizerPlan | None:
    """The optimizer, or None where it is no Keras optimizer known here.

    The texts of its arguments are those of the source.
    """
    if isinstance(node, cst.SimpleString):
        symbol = _NAMED.get(str(ast.literal_eval(node.value)).lower())
        return None if symbol is None else OptimizerPlan(symbol)
    value = tree.value(node)
    symbol = tree.symbol(value.func) if isinstance(value, cst.Call) else None
    if not isinstance(value, cst.Call) or symbol not in _POSITIONAL:
        return None
    line = tree.line(value)
    first = _POSITIONAL[symbol]
    if sum(argument.keyword is None for argument in value.args) > len(first):
        reason = f"`{symbol}` with positions that changed their meaning"
        raise Blocked("TFM117", line, reason)
    try:
        given = match_arguments(value, (*first, *_KEYWORDS[symbol]))
    except UnknownArguments as problem:
        raise Blocked("TFM117", line, f"optimizer with {problem}") from None
    return OptimizerPlan(
        symbol,
        tuple((name, tree.code(a)) for name, a in given.items() if not is_none(a)),
        variable=node.value if isinstance(node, cst.Name) else None,
    )
