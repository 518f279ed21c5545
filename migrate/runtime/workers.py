"""Who takes part in a step: a process alone, or workers that agree on each."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import tensorflow as tf

SECONDS_PER_CALL = 1.0
STEPS_PER_CALL = 10_000


class Workers:
    """A process that trains alone, on one replica or several."""

    is_chief = True
    # Others wait in each step for this process, whatever its hooks raise.
    wait_in_steps = False
    # What makes variables, steps, and steps that hooks see, where that is elsewhere.
    variables: Any = None
    many_steps: Any = None
    hook_runner: Any = None

    def __init__(self, strategy: Any):
        self.strategy = strategy
        # TensorFlow's strategy of a program without one knows no devices.
        lone = strategy is None or strategy.num_replicas_in_sync == 1
        self.replicas = 1 if lone else len(strategy.extended.worker_devices)

    def check_place(self, config: Any) -> None:
        """Raises where TF_CONFIG names others, of whom this loop would know nothing."""
        others = config.num_worker_replicas - 1 + config.num_ps_replicas
        if others > 0:
            raise ValueError(
                f"TF_CONFIG makes this {config.task_type} {config.task_id} of a "
                f"cluster with {others} more tasks that train or serve. This loop "
                "trains in one process. Rewrite the program with `--strategy "
                "multiworker` for workers in step, or `--strategy parameter_server` "
                "for a cluster with ps."
            )

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

    def steps_per_call(self, rate: float) -> int:
        """How many steps are taken in one call, at a number of steps per second.

        As long as it takes, checkpoints by the clock wait, and so does Ctrl-C.
        """
        return max(1, min(int(rate * SECONDS_PER_CALL), STEPS_PER_CALL))

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
    workers = Workers(strategy)
    if strategy is not None and strategy.num_replicas_in_sync > workers.replicas:
        raise ValueError(
            f"{type(strategy).__name__} has replicas in other processes: use "
            "MultiWorkerMirroredStrategy of this module, which the loop knows."
        )
    return workers
