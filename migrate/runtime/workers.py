"""Who takes part in a step: a process alone, or workers that agree on each."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from .places import check_alone, check_replicas_are_here, replicas_here


class Workers:
    """A process that trains alone, on one replica or several."""

    is_chief = True
    # Others wait in each step for this process, whatever its hooks raise.
    wait_in_steps = False
    # How many steps are taken in one call, where all have to take as many.
    steps_together: int | None = None
    # What makes variables, steps, and steps that hooks see, where that is elsewhere.
    variables: Any = None
    many_steps: Any = None
    hook_runner: Any = None

    def __init__(self, strategy: Any):
        self.strategy = strategy
        self.replicas = replicas_here(strategy)

    def check_place(self, config: Any) -> None:
        """It is to be nobody but this process."""
        check_alone(config)

    def input_context(self) -> Any:
        """What an input function is told of the others that read."""
        return tf.distribute.InputContext(num_replicas_in_sync=self.replicas)

    def same_checkpoint(self, find: Callable[[], str | None]) -> str | None:
        """The checkpoint that all begin with."""
        return find()

    def config_of(self, config: Any) -> Any:
        """The configuration with the directory that this process writes into."""
        return config

    def all_go_on(self, here: Any) -> Any:
        """Whether all take the next step, a tensor as the one for this process."""
        return here

    def gather(self, estimator: Any, input_fn: Any) -> None:
        """Before a model is traced: all who take part are there."""

    def next_feeds(self, data: Any, left: float) -> dict[Any, Any] | None:
        """What the next step is fed; None when there is no next step."""
        del data, left
        return {}  # The graph takes its batches itself.

    def tell_end(self) -> None:
        """Tells the others that this process takes no further step."""

    def total(self, value: Any) -> Any:
        """The sum of the values that the processes have."""
        return value

    def at_work(self) -> contextlib.AbstractContextManager[None]:
        """Within it, an error that comes from a lost worker names that worker."""
        return contextlib.nullcontext()


def workers_of(strategy: Any) -> Workers:
    """Those who train under a strategy."""
    known = getattr(strategy, "workers", None)
    if isinstance(known, Workers):
        return known
    check_replicas_are_here(strategy)
    return Workers(strategy)
