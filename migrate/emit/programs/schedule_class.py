"""The schedule whose call computes a learning rate as the model_fn did."""

from __future__ import annotations

from ...plan.program import TF, ModelFnPlan
from ..module.names import rename
from ..module.template import free_names

__all__ = ["schedule_class"]


def schedule_class(model: ModelFnPlan, name: str) -> tuple[str, str]:
    """Source of the class, and of the expression that makes one.

    What the model_fn was given becomes arguments of the constructor.
    """
    given = [name for name, _ in model.closure]
    if model.has_params:
        given.append("params")
    read = free_names(model.rate)
    given = [name for name in dict.fromkeys(given) if name in read]
    call = rename(model.rate, {name: f"self.{name}" for name in given})
    base = f"{TF}.keras.optimizers.schedules.LearningRateSchedule"
    arguments = ", ".join(given)
    lines = ['"""The learning rate of each step."""', ""]
    if given:
        lines.append(f"def __init__(self, {arguments}):")
        lines += [f"    self.{name} = {name}" for name in given]
        lines.append("")
    lines += call.splitlines()
    body = "".join(f"    {line}\n" if line else "\n" for line in lines)
    return f"class {name}({base}):\n{body}", f"{name}({arguments})"
