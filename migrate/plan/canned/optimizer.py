"""The optimizer argument of a canned Estimator: names, objects and functions."""

from __future__ import annotations

import ast

import libcst as cst

from ..code.arguments import UnknownArguments, is_none, match_arguments
from ..code.tree import Tree, only_small, statements_of
from ..keras.program import OPTIMIZERS
from ..program import OptimizerPlan
from ..sites import Blocked

__all__ = ["canned_optimizer"]

_NAMED = {
    "Adagrad": "tf.train.AdagradOptimizer",
    "Adam": "tf.train.AdamOptimizer",
    "Ftrl": "tf.train.FtrlOptimizer",
    "RMSProp": "tf.train.RMSPropOptimizer",
    "SGD": "tf.train.GradientDescentOptimizer",
}


def canned_optimizer(
    tree: Tree, node: cst.BaseExpression | None, name: str, rate: str
) -> OptimizerPlan:
    """The optimizer; ``name`` is the default, ``rate`` that of all given by name."""
    value = tree.value(node)
    if value is None:
        return _by_name(name, rate)
    line = tree.line(node) if node is not None else 0
    if isinstance(value, cst.SimpleString):
        given = ast.literal_eval(value.value)
        if given not in _NAMED:
            raise Blocked("TFM117", line, f"there is no optimizer named {value.value}")
        return _by_name(given, rate)
    if is_none(value):
        raise Blocked("TFM117", line, "the optimizer is None")
    made = _made(tree, value)
    symbol = tree.symbol(made.func) if isinstance(made, cst.Call) else None
    if not isinstance(made, cst.Call) or symbol not in OPTIMIZERS:
        shown = symbol or tree.code(value)
        raise Blocked("TFM117", line, f"the optimizer `{shown}` is not converted yet")
    try:
        arguments = match_arguments(made, OPTIMIZERS[symbol])
    except UnknownArguments as problem:
        raise Blocked("TFM117", line, f"optimizer with {problem}") from None
    rate_given = tree.value(arguments.get("learning_rate"))
    if isinstance(rate_given, cst.Call):
        schedule = tree.symbol(rate_given.func)
        if schedule is not None:
            raise Blocked(
                "TFM117", line, f"the learning rate `{schedule}` is not converted yet"
            )
    return OptimizerPlan(
        symbol, tuple((name, tree.code(a)) for name, a in arguments.items())
    )


def _by_name(name: str, rate: str) -> OptimizerPlan:
    return OptimizerPlan(_NAMED[name], (("learning_rate", rate),))


def _made(tree: Tree, value: cst.BaseExpression) -> cst.BaseExpression | None:
    """The optimizer that a function without parameters makes, or the value."""
    if isinstance(value, cst.Lambda) and not value.params.params:
        return tree.value(value.body)
    defined = tree.resolver.definition(value)
    if isinstance(defined, cst.FunctionDef) and not defined.params.params:
        assert isinstance(defined.body, cst.IndentedBlock)
        statements = statements_of(defined.body)
        small = only_small(statements[-1])
        if len(statements) == 1 and isinstance(small, cst.Return):
            return small.value
    return value
