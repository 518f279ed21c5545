"""Callbacks, which look at every step."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import tensorflow as tf

from . import core
from .core import NEVER, split


class Callback:
    """Looks on while a model trains, and may end it by `should_stop`."""

    should_stop = False

    def begin(self) -> None: ...
    def before_step(self, step: int) -> None: ...
    def after_step(self, step: int, values: dict[str, Any]) -> None: ...
    def end(self) -> None: ...


class Trainer(core.Trainer):
    """A trainer whose steps are looked at, each in a call of its own."""

    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: Iterable[Callback] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
    ) -> Trainer:
        """Trains from the latest checkpoint on, until data or steps are over."""
        dataset = self._dataset(input_fn, "train")
        self._prepare(split(dataset.element_spec)[0])
        step = saved = self.global_step
        last = int(max_steps or NEVER) if steps is None else step + int(steps)
        if step >= last:
            return self
        hooks = self._hooks(hooks)
        for hook in hooks:
            hook.should_stop = False
        taken = self._steps(self._iterator(dataset, whole=True), last - step)
        self._tell(hooks, "begin")
        self._start(step)
        save_steps = self.config.save_checkpoints_steps or NEVER
        save_secs = NEVER if save_steps < NEVER else self.config.save_checkpoints_secs
        save_at = time.time() + save_secs
        while step < last and not any(hook.should_stop for hook in hooks):
            self._tell(hooks, "before_step", step)
            values = next(taken, None)
            if values is None:
                break  # the end of the data
            step += 1
            self._log(step, values["loss"])
            if step >= saved + save_steps or time.time() >= save_at:
                self._save(step)
                saved, save_at = step, time.time() + save_secs
            self._tell(hooks, "after_step", step, values)
        if step > saved:
            self._save(step)
        self._tell(hooks, "end")
        return self

    def _hooks(self, hooks: Iterable[Callback] | None) -> list[Callback]:
        """Returns all callbacks of a training."""
        return list(hooks or ())

    def _steps(self, iterator: Any, count: int) -> Iterator[dict[str, Any]]:
        """Takes steps while there is data, `count` at most; yields what each shows."""
        # The trace itself, so that no step has to look for it.
        train_step = self._train.get_concrete_function(iterator.element_spec)
        for batch in iterator:
            yield {key: value.numpy() for key, value in train_step(batch).items()}

    def _tell(self, hooks: Iterable[Callback], event: str, *values: Any) -> None:
        for hook in hooks:
            getattr(hook, event)(*values)

    @tf.function
    def _train(self, batch: Any) -> Any:
        return self._train_step(batch)
