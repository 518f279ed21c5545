"""The Keras models that stand in for canned Estimators."""

from __future__ import annotations

from collections.abc import Mapping

from ...plan.canned.plan import CannedPlan, DeepPlan
from ...plan.program import TF, OptimizerPlan
from ..module.layout import one_line
from .optimizers import ConvertedOptimizer, convert_optimizer

__all__ = ["model_code", "row_wise"]

_LAYERS = f"{TF}.keras.layers"
# Keras optimizers that update whole variables where tf.train's updated the rows
# that a batch has, and the older ones that update rows, too.
_ROW_WISE = {
    "tf.train.FtrlOptimizer": "Ftrl",
    "tf.train.MomentumOptimizer": "SGD",
}


def row_wise(
    plan: OptimizerPlan, variable: str, *, sparse: bool
) -> tuple[ConvertedOptimizer, bool]:
    """The Keras optimizer, and whether it has to be built."""
    converted = convert_optimizer(plan, variable)
    name = _ROW_WISE.get(plan.symbol)
    if not sparse or name is None:
        return converted, True
    code = converted.code.replace(f".{name}(", f".legacy.{name}(", 1)
    return ConvertedOptimizer(code, converted.state, converted.note), False


def model_code(plan: CannedPlan, names: Mapping[str, str]) -> str:
    """Statements that make ``model``."""
    units = one_line(plan.head.units)
    model = names["model"]
    if plan.deep is None and plan.linear is None:
        return f"{model} = {names['BaselineModel']}({units})\n"
    linear = ""
    if plan.linear is not None:
        columns = one_line(plan.linear.columns)
        linear = f"{names['LinearModel']}({columns}, {units})"
    if plan.deep is None:
        return f"{model} = {linear}\n"
    if plan.linear is None:
        return _deep(plan.deep, units, model)
    deep = names["deep_part"]
    return _deep(plan.deep, units, deep) + (
        f"{model} = {names['WideDeepModel']}({deep}, {linear})\n"
    )


def _deep(plan: DeepPlan, units: str, variable: str) -> str:
    first = f"{_LAYERS}.DenseFeatures({one_line(plan.columns)})"
    last = f"{_LAYERS}.Dense({units})"
    if plan.spelled_out:
        hidden = [layer for size in plan.hidden_units for layer in _block(plan, size)]
        return _sequential(variable, [first, *hidden, last])
    (sizes,) = plan.hidden_units
    block = _block(plan, "size")
    if len(block) == 1:
        return _sequential(
            variable, [first, f"*[{block[0]} for size in {sizes}]", last]
        )
    code = f"{variable} = {TF}.keras.Sequential([{first}])\n"
    code += f"for size in {sizes}:\n"
    code += "".join(f"    {variable}.add({layer})\n" for layer in block)
    return code + f"{variable}.add({last})\n"


def _sequential(variable: str, layers: list[str]) -> str:
    inside = "".join(f"    {layer},\n" for layer in layers)
    return f"{variable} = {TF}.keras.Sequential([\n{inside}])\n"


def _block(plan: DeepPlan, size: str) -> list[str]:
    """The layers of one hidden layer, in the order of canned models."""
    activation = ""
    if plan.activation is not None:
        activation = f", activation={one_line(plan.activation)}"
    layers = [f"{_LAYERS}.Dense({size}{activation})"]
    if plan.dropout is not None:
        layers.append(f"{_LAYERS}.Dropout({plan.dropout})")
    if plan.batch_norm:
        layers.append(f"{_LAYERS}.BatchNormalization(momentum=0.999)")
    return layers
