"""Values of a step that callbacks are given besides its loss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...plan.code.tree import Statement
from ..module.template import parse_statements

if TYPE_CHECKING:
    from ..programs.loop import LoopEmitter

__all__ = ["step_call", "watching_steps"]

_FIRST = "# As a session fetched it: the value of the first replica.\n"


def watching_steps(emitter: LoopEmitter) -> dict[str, Sequence[Statement]]:
    """What the function that runs steps does with the values."""
    names = [variable for _, variable in emitter.watched]
    strategy = emitter.strategy
    start = "".join(f"{n} = {emitter.nothing_watched(n)}\n" for n in names)
    results = ", ".join(["losses", *(f"all_{name}" for name in names)])
    train_step = emitter.renamed["train_step"]
    taken = "".join(
        f"{name} = {strategy}.experimental_local_results(all_{name})[0]\n"
        for name in names
    )
    if taken:
        taken = _FIRST + taken

    def runs(batch: str) -> list[Statement]:
        run = f"{results} = {strategy}.run({train_step}, args=({batch},))\n"
        return emitter.fill(
            "run_batch",
            expressions={"X_BATCH": batch},
            statements={
                "X_RUN": parse_statements(run),
                "X_WATCHED": parse_statements(taken),
            },
        )

    return {
        "X_NOTHING_WATCHED": parse_statements(start),
        "X_RUN_BATCH": runs("batch"),
        "X_RUN_NEXT": runs("batch.get_value()"),
    }


def step_call(
    emitter: LoopEmitter, names: dict[str, str], steps: str | None
) -> Sequence[Statement]:
    """The loop's call of that function; ``names`` are those of the loop.

    Without ``steps`` it is the call that takes one step.
    """
    kept = [names[variable] for _, variable in emitter.watched]
    results = ", ".join([names["loss"], *kept, names["done"]])
    iterator = names["train_iterator"]
    if steps is None:
        called = f"{names['run_step']}({iterator})"
    else:
        called = f"{emitter.renamed['train_steps']}({iterator}, {steps})"
    return parse_statements(f"{results} = {called}\n")
