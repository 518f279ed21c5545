"""The train_op of a model_fn: its optimizer."""

from __future__ import annotations

import libcst as cst

from .arguments import UnknownArguments, is_none, match_arguments
from .keras_program import OPTIMIZERS
from .model_fn_source import Source
from .program import OptimizerPlan

__all__ = ["read_optimizer"]

_GLOBAL_STEPS = (
    "tf.train.get_global_step",
    "tf.train.get_or_create_global_step",
    "tf.contrib.framework.get_global_step",
    "tf.train.create_global_step",
)


def read_optimizer(
    source: Source, minimize: cst.BaseExpression | None
) -> OptimizerPlan:
    if not (
        isinstance(minimize, cst.Call)
        and isinstance(minimize.func, cst.Attribute)
        and minimize.func.attr.value == "minimize"
    ):
        raise source.stop(
            minimize or source.defined, "the train_op is not a plain minimize"
        )
    try:
        given = match_arguments(minimize, ("loss", "global_step", "var_list"))
    except UnknownArguments as problem:
        raise source.stop(minimize, f"minimize with {problem}") from None
    if not is_none(given.get("var_list")):
        raise source.stop(minimize, "minimize(`var_list`=)")
    step = source.tree.value(given.get("global_step"))
    if not (
        isinstance(step, cst.Call) and source.tree.symbol(step.func) in _GLOBAL_STEPS
    ):
        raise source.stop(minimize, "minimize without the global step")
    made = source.tree.value(minimize.func.value)
    symbol = source.tree.symbol(made.func) if isinstance(made, cst.Call) else None
    if not isinstance(made, cst.Call) or symbol not in OPTIMIZERS:
        shown = symbol or source.tree.code(minimize.func.value)
        raise source.stop(minimize, f"the optimizer `{shown}` is not converted yet")
    try:
        arguments = match_arguments(made, OPTIMIZERS[symbol])
    except UnknownArguments as problem:
        raise source.stop(made, f"optimizer with {problem}") from None
    for argument in arguments.values():
        source.check_outer(argument, "the optimizer")
    return OptimizerPlan(
        symbol, tuple((n, source.tree.code(a)) for n, a in arguments.items())
    )
