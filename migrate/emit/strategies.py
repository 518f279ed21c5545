"""Today's strategy for a strategy of the Estimator years."""

from __future__ import annotations

import re

from ..plan.program import TF, StrategyPlan

__all__ = ["strategy_code"]


_CHOSEN = {
    "mirrored": "MirroredStrategy()",
    "one_device": 'OneDeviceStrategy("/gpu:0")',
    "central": "experimental.CentralStorageStrategy()",
    "default": "get_strategy()",
}


def strategy_code(plan: StrategyPlan, chosen: str = "keep") -> str:
    """Source text that makes the strategy; ``chosen`` is the user's option."""
    if chosen in _CHOSEN:
        return f"{TF}.distribute.{_CHOSEN[chosen]}"
    if plan.code is not None:
        code = plan.code
        for index, choice in enumerate(plan.choices):
            code = code.replace(f"__strategy_{index}__", strategy_code(choice))
        return code
    if plan.symbol is None:
        return f"{TF}.distribute.get_strategy()"
    given = {name: code for name, code in plan.arguments if code != "None"}
    if plan.symbol.endswith(".OneDeviceStrategy"):
        return f"{TF}.distribute.OneDeviceStrategy({given.get('device', '')})"
    arguments = []
    devices = given.get("devices") or _devices(given)
    if devices is not None:
        arguments.append(f"devices={devices}")
    operations = given.get("cross_device_ops") or given.get("cross_tower_ops")
    if operations is not None:
        arguments.append(f"cross_device_ops={operations}")
    return f"{TF}.distribute.MirroredStrategy({', '.join(arguments)})"


def _devices(given: dict[str, str]) -> str | None:
    """``num_gpus=2`` as the list of devices that it meant."""
    count = given.get("num_gpus") or given.get("num_gpus_per_worker")
    if count is None:
        return None
    if re.fullmatch(r"[1-9]", count):
        names = ", ".join(f'"/gpu:{i}"' for i in range(int(count)))
        return f"[{names}]"
    return f'[f"/gpu:{{i}}" for i in range({count})]'
