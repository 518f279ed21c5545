"""Where a train call ends: its own limit, and that of a StopAtStepHook."""

from __future__ import annotations

from ...plan.program import EstimatorCall

__all__ = ["is_optional", "last_step"]


def last_step(call: EstimatorCall, names: dict[str, str]) -> tuple[str, str]:
    """Statements that set the last step, and the loop's condition."""
    step, last = names["step"], names["last_step"]
    condition = f"{step} < {last}"
    if is_optional(call):
        condition = f"{last} is None or {condition}"
    # StopAtStepHook: a limit of its own, or the sharper of two.
    hook = call.stock.last_step
    if call.stock.num_steps is not None:
        hook = f"{step} + {call.stock.num_steps}"
    if call.steps is not None and call.max_steps is not None:
        # A function for calls of both kinds.
        code = f"{step} + steps if steps else max_steps"
    elif call.max_steps is not None:
        code = call.max_steps
    elif call.steps is not None and call.limit_optional:
        code = f"{step} + {call.steps} if {call.steps} else None"
    elif call.steps is not None:
        code = f"{step} + {call.steps}"
    elif hook is not None:
        return f"{last} = {hook}\n", condition
    else:
        return "", "True"
    if hook is not None and _may_be_none(call):
        return f"{last} = {code}\n{last} = min({last} or {hook}, {hook})\n", condition
    if hook is not None:
        code = f"min({code}, {hook})"
    return f"{last} = {code}\n", condition


def is_optional(call: EstimatorCall) -> bool:
    """The limit may be None when the program runs."""
    stopped = call.stock.num_steps is not None or call.stock.last_step is not None
    return _may_be_none(call) and not stopped


def _may_be_none(call: EstimatorCall) -> bool:
    """What the call itself gives as its limit may be None when the program runs."""
    given = call.steps is not None or call.max_steps is not None
    return given and call.limit_optional
