"""How many steps one call of a loop's function takes: one, or a chunk of them."""

from __future__ import annotations

from collections.abc import Sequence

from ...options import RewriteOptions
from ...plan.program import EstimatorCall, HookPlan

__all__ = ["STEPS_FUNCTIONS", "paces", "steps_alone"]

# Whether each step is a call of its own -> the function that is called.
STEPS_FUNCTIONS = {False: "train_steps", True: "train_next"}


def steps_alone(options: RewriteOptions, hooks: Sequence[HookPlan]) -> bool:
    """Each step is a call of its own: as chosen, or because hooks look at each."""
    return options.loop == "step" or any(
        {"before_run", "after_run"} & set(hook.methods) for hook in hooks
    )


def paces(
    options: RewriteOptions, calls: Sequence[EstimatorCall], *, shared: bool
) -> set[bool]:
    """Whether a program has loops of steps alone (True), and of chunks (False).

    Where loops are ``shared``, there is one for all train calls of a kind.
    """
    hooks: dict[object, list[HookPlan]] = {}
    for index, call in enumerate(calls):
        hooks.setdefault(call.kind if shared else index, []).extend(call.hooks)
    return {steps_alone(options, given) for given in hooks.values()}
