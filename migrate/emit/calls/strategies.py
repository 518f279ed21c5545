"""Today's strategy for a strategy of the Estimator years."""

from __future__ import annotations

import re

from ...plan.program import TF, StrategyPlan

__all__ = ["remark", "strategy_code"]

# Parts of models whose gradients are rows of a table, and how many differs by batch.
_SPARSE = re.compile(
    r"[Ee]mbedding|\b(DNN|Linear)\w*(Classifier|Regressor|Estimator)\b|linear_model"
    r"|input_layer|DenseFeatures|\bgather\("
)
_REDUCTION = "ReductionToOneDevice"

_CHOSEN: dict[str, tuple[str, ...]] = {
    "mirrored": ("MirroredStrategy",),
    "one_device": ("OneDeviceStrategy", '"/gpu:0"'),
    "central": ("experimental.CentralStorageStrategy",),
    "default": ("get_strategy",),
}


def strategy_code(plan: StrategyPlan, chosen: str, source: str) -> str:
    """Source text that makes the strategy; ``chosen`` is the user's option.

    ``source`` is the program. The collectives that MirroredStrategy takes by itself
    cannot gather what differs in length: TF 2.21 stops with "Shape mismatch in the
    collective instance", or waits for ever. TF 1 added sparse gradients up on one
    device.
    """
    name, arguments = _constructor(plan, chosen)
    given = any(argument.startswith("cross_device_ops") for argument in arguments)
    if name == "MirroredStrategy" and not given and _SPARSE.search(source):
        arguments.append(f"cross_device_ops={TF}.distribute.{_REDUCTION}()")
    return f"{TF}.distribute.{name}({', '.join(arguments)})"


def remark(code: str, source: str) -> str:
    """A comment on the strategy, if it has what the program did not ask for."""
    if _REDUCTION in code and _REDUCTION not in source:
        return "# Sparse gradients are added up on one device, as in TF 1.\n"
    return ""


def _constructor(plan: StrategyPlan, chosen: str) -> tuple[str, list[str]]:
    """A name of ``tf.distribute``, and the arguments of its call."""
    if chosen in _CHOSEN:
        name, *arguments = _CHOSEN[chosen]
        return name, arguments
    if plan.symbol is None:
        return "get_strategy", []
    given = {name: code for name, code in plan.arguments if code != "None"}
    if plan.symbol.endswith(".OneDeviceStrategy"):
        return "OneDeviceStrategy", [given["device"]] if "device" in given else []
    arguments = []
    devices = given.get("devices") or _devices(given)
    if devices is not None:
        arguments.append(f"devices={devices}")
    operations = given.get("cross_device_ops") or given.get("cross_tower_ops")
    if operations is not None:
        arguments.append(f"cross_device_ops={operations}")
    return "MirroredStrategy", arguments


def _devices(given: dict[str, str]) -> str | None:
    """``num_gpus=2`` as the list of devices that it meant."""
    count = given.get("num_gpus") or given.get("num_gpus_per_worker")
    if count is None:
        return None
    if re.fullmatch(r"[1-9]", count):
        names = ", ".join(f'"/gpu:{i}"' for i in range(int(count)))
        return f"[{names}]"
    return f'[f"/gpu:{{i}}" for i in range({count})] or ["/cpu:0"]'
