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
    chosen = call.stock.stops_if
    if call.steps is not None and call.max_steps is not None:
        # A function for calls of both kinds.
        code = f"{step} + steps if steps else max_steps"
    elif call.max_steps is not None:
        code = call.max_steps
    elif call.steps is not None and call.limit_optional:
        code = f"{step} + {call.steps} if {call.steps} else None"
    elif call.steps is not None:
        code = f"{step} + {call.steps}"
    elif hook is not None and chosen:
        code = f"{hook} if {chosen} else None"
        return f"{last} = {code}\n", f"{last} is None or {step} < {last}"
    elif hook is not None:
        return f"{last} = {hook}\n", condition
    else:
        return "", "True"
    if hook is not None and chosen:
        lower = f"min({last} or {hook}, {hook})"
        if not _may_be_none(call):
            lower = f"min({last}, {hook})"
        given = f"{last} = {code}\nif {chosen}:\n    {last} = {lower}\n"
        return given, condition
    if hook is not None:
        if is_optional(call):
            return f"{last} = {code}\n{last} = min({last} or {hook}, {hook})\n", (
                f"{step} < {last}"
            )
        code = f"min({code}, {hook})"
    return f"{last} = {code}\n", condition


def is_optional(call: EstimatorCall) -> bool:
    """The limit may be None when the program runs."""
    stopped = call.stock.num_steps is not None or call.stock.last_step is not None
    if stopped and call.stock.stops_if:
        return not _is_given(call) or _may_be_none(call)
    return _may_be_none(call) and not stopped


def _is_given(call: EstimatorCall) -> bool:
    return call.steps is not None or call.max_steps is not None


def _may_be_none(call: EstimatorCall) -> bool:
    """What the call itself gives as its limit may be None when the program runs."""
    return _is_given(call) and call.limit_optional
