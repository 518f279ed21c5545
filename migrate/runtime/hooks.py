"""Hooks around the steps of a loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import tensorflow as tf

from .asked import TIMES
from .fetching import filled
from .step_stats import any_is_traced, with_stats
from .vocabulary import v1

SessionRunHook = v1.train.SessionRunHook
SessionRunArgs = v1.train.SessionRunArgs
SessionRunContext = v1.train.SessionRunContext
SessionRunValues = v1.train.SessionRunValues
LoggingTensorHook = v1.train.LoggingTensorHook
StopAtStepHook = v1.train.StopAtStepHook
StepCounterHook = v1.train.StepCounterHook
CheckpointSaverHook = v1.train.CheckpointSaverHook
CheckpointSaverListener = v1.train.CheckpointSaverListener
SummarySaverHook = v1.train.SummarySaverHook
NanTensorHook = v1.train.NanTensorHook
NanLossDuringTrainingError = v1.train.NanLossDuringTrainingError
FinalOpsHook = v1.train.FinalOpsHook
FeedFnHook = v1.train.FeedFnHook
GlobalStepWaiterHook = v1.train.GlobalStepWaiterHook
SecondOrStepTimer = v1.train.SecondOrStepTimer
Scaffold = v1.train.Scaffold


class HookRunner:
    """Calls hooks as a monitored session did, around steps of a model."""

    def __init__(self, model: Any, hooks: Iterable[Any]):
        self.model = model
        # What computes a step and what hooks fetch of it.
        self.values: Callable[..., list[Any]]
        self.values = model.session.fetches.values
        # Whether the step was taken that hooks are being called around.
        self.taken = False
        self.hooks = list(hooks)
        self.coordinator = v1.train.Coordinator()

    @property
    def wanted_each_step(self) -> bool:
        """Whether some hook has something to do before or after each step."""
        return any(acts_on_steps(hook) for hook in self.hooks)

    def start(self) -> None:
        """Tells the hooks that the variables are there."""
        with self.model.inside():
            for hook in self.hooks:
                hook.after_create_session(self.model.session, self.coordinator)

    def step(
        self,
        main: Any,
        first: Callable[[Any], None] | None = None,
        given: Mapping[Any, Any] | None = None,
    ) -> tuple[Any, bool]:
        """Runs a step: the values of `main`, and whether a hook wants it to be last.

        `first` is called with the values before the hooks hear of them; `given` is
        fed beside what they feed.
        """
        session = self.model.session
        context = SessionRunContext(SessionRunArgs(main, {}), session)
        feeds = dict(given or {})
        self.taken = False
        with self.model.inside():
            asked = [hook.before_run(context) for hook in self.hooks]
        for request in asked:
            if request is not None and request.feed_dict:
                feeds.update(request.feed_dict)
        wanted = [None if request is None else request.fetches for request in asked]
        asks = any(one is not None for one in wanted)
        fetches = [main, *wanted] if asks else [main]
        metadata = v1.RunMetadata()
        flat = tf.nest.flatten(fetches)
        if TIMES and any_is_traced(asked):
            found, metadata = with_stats(
                session.graph,
                lambda: self.values(flat, feeds, own=len(tf.nest.flatten(main))),
            )
        else:
            found = self.values(flat, feeds, own=len(tf.nest.flatten(main)))
        self.taken = True
        values, *results = filled(fetches, iter(found))
        if first is not None:
            first(values)
        with self.model.inside():
            for hook, value in zip(self.hooks, results or wanted, strict=True):
                hook.after_run(context, SessionRunValues(value, None, metadata))
        return values, context.stop_requested or self.coordinator.should_stop()

    def end(self) -> None:
        """Tells the hooks that all is done."""
        with self.model.inside():
            for hook in self.hooks:
                hook.end(self.model.session)


def acts_on_steps(hook: Any) -> bool:
    """Whether a hook does anything before or after a step."""
    return any(
        getattr(type(hook), name) is not getattr(SessionRunHook, name)
        or name in vars(hook)
        for name in ("before_run", "after_run")
    )


def begun_hooks(hooks: list[Any], listeners: Iterable[Any] = ()) -> list[Any]:
    """Tells hooks of the graph; gives those of them that save checkpoints.

    Those call the listeners as well; otherwise the loop does.
    """
    saving = saving_hooks(hooks)
    if saving:
        known = saving[0]._listeners
        known += [one for one in listeners if one not in known]
    else:
        for listener in listeners:
            listener.begin()
    for hook in hooks:
        hook.begin()
    return saving


def saving_hooks(hooks: Iterable[Any] | None) -> list[Any]:
    """Those that save checkpoints."""
    return [hook for hook in hooks or () if isinstance(hook, CheckpointSaverHook)]
