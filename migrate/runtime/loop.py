"""The loop: steps until it is time for something else, then that, then more steps."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import tensorflow as tf

from .checkpoints import Checkpoints, event_writer
from .graph import ModelGraph
from .hooks import HookRunner, NanLossDuringTrainingError
from .inputs import ModelInput
from .rivals import Rivals
from .vocabulary import logger, v1
from .workers import Workers


class ManySteps:
    """Steps of a model in one call."""

    def __init__(
        self,
        graph: ModelGraph,
        data: ModelInput,
        operation: Any,
        loss: Any = None,
        workers: Workers | None = None,
    ):
        step = graph.call([operation, loss], data.tensors)
        counter = graph.global_step
        kind = tf.float32 if loss is None else loss.dtype
        self.rate = 1.0
        self.workers = workers or Workers(None)
        all_go_on = self.workers.all_go_on

        def run(until: Any, limit: Any, source: Any = None) -> tuple[Any, Any, Any]:
            done = tf.constant(0, tf.int64)
            last = tf.constant(0, kind)
            goes_on, ended = limit > 0, False
            while goes_on:
                batches = data.optional_batches(source)
                # Asked for first: an error in the middle of a loop may be waited for
                # by another device.
                if all_go_on(tf.reduce_all([batch.has_value() for batch in batches])):
                    taken = [batch.get_value() for batch in batches]
                    flat = tf.nest.flatten(taken, expand_composites=True)
                    _, value, finished = step(*flat)
                    done += tf.cast(finished, tf.int64)
                    goes_on = done < limit
                    if value is not None:
                        last = tf.reshape(value, [])
                        step_now = tf.cast(counter.read_value(), tf.int64)
                        goes_on &= (step_now < until) & ~tf.math.is_nan(last)
                else:
                    goes_on, ended = False, True
            return last, done, ended

        self.run = tf.function(run)

    def __call__(self, until: float, limit: float) -> tuple[Any, int, bool]:
        """Runs until a global step, but no more than a number of steps or a second.

        Gives the last loss, how many steps there were, and whether the data ended.
        """
        most = min(limit, self.workers.steps_per_call(self.rate))
        until = min(until, np.iinfo(np.int64).max)
        began = time.time()
        with tf.init_scope():
            last, done, ended = self.run(
                tf.constant(until, tf.int64), tf.constant(most, tf.int64)
            )
        count = int(done.numpy())
        self.rate = min(self.rate * 10, count / max(time.time() - began, 1e-6))
        return last.numpy(), count, bool(ended)


class StepReports:
    """What training says on its way: log lines, and summaries in an event file."""

    def __init__(self, graph: ModelGraph, config: Any, start: int, *, summaries: bool):
        self.writer = event_writer(config.model_dir, graph)
        self.summary_steps: int = (config.save_summary_steps or 0) if summaries else 0
        self.log_steps = config.log_step_count_steps
        self.next_summary: float = start + 1 if self.summary_steps else math.inf
        # The rate is first known after a whole round, the loss after one step.
        self.next_rate: float = start + 1 if self.log_steps else math.inf
        self.next_line: float = 1 if self.log_steps else math.inf
        self.rate_from: tuple[int, float] | None = None
        self.line_at: float | None = None
        self.started = False

    def summary_follows(self, step: int) -> bool:
        """Whether the summaries of the step after this one are wanted."""
        return step + 1 >= self.next_summary

    def next_step(self) -> float:
        """The step after which something is due."""
        return min(self.next_rate, self.next_summary - 1)

    def end(self) -> None:
        """After the last step."""

    def after_step(self, step: int, done: int, loss: Any, summary: Any) -> None:
        """Says what is due; `done` counts the steps of this run of training."""
        if self.log_steps and step >= self.next_rate:
            now = time.time()
            if self.rate_from is not None:
                since, began = self.rate_from
                rate = (step - since) / max(now - began, 1e-9)
                logger.info("global_step/sec: %g", rate)
                value = v1.Summary.Value(tag="global_step/sec", simple_value=rate)
                self.writer.add_summary(v1.Summary(value=[value]), step)
            self.rate_from, self.next_rate = (step, now), step + self.log_steps
        if self.summary_steps and not self.started:
            self.started = True
            start = v1.SessionLog(status=v1.SessionLog.START)
            self.writer.add_session_log(start, step)
        if summary is not None:
            self.next_summary = step + self.summary_steps
            self.writer.add_summary(summary, step)
        if self.log_steps and done >= self.next_line:
            now = time.time()
            passed = "" if self.line_at is None else f" ({now - self.line_at:.3f} sec)"
            logger.info("loss = %s, step = %d%s", loss, step, passed)
            self.line_at, self.next_line = now, done + self.log_steps


@dataclasses.dataclass
class Steps:
    """How far a run of training is."""

    step: int
    done: int = 0
    loss: Any = None
    stop: bool = False
    # All workers know by themselves that there is no further step.
    over: bool = False


class TrainingLoop:
    """Steps of a traced model with everything that happens between them."""

    def __init__(
        self,
        graph: ModelGraph,
        data: ModelInput,
        *,
        train_op: Any,
        loss: Any,
        summary: Any,
        hooks: Iterable[Any],
        checkpoints: Checkpoints,
        config: Any,
        workers: Workers,
        rivals: Rivals,
    ):
        self.graph, self.data, self.workers = graph, data, workers
        self.train_op, self.loss, self.summary = train_op, loss, summary
        self.hooks = (workers.hook_runner or HookRunner)(graph, hooks)
        self.checkpoints = checkpoints
        self.config, self.rivals = config, rivals

    def run(self, last_step: Callable[[int], float]) -> Any:
        """Trains until a step that follows from the first; gives the last loss."""
        start = self.current_step()
        last = last_step(start)
        self.checkpoints.start(start)
        self.hooks.start()
        reports = (self.config.reports or StepReports)(
            self.graph, self.config, start, summaries=self.summary is not None
        )
        many = None
        if self.data.iterator is not None and not self.hooks.wanted_each_step:
            kind = self.workers.many_steps or ManySteps
            many = kind(self.graph, self.data, self.train_op, self.loss, self.workers)
        state = Steps(start)

        def step_is_done(count: int, loss: Any, step: int, summary: Any = None) -> None:
            state.step, state.loss = step, loss
            state.done += count
            self.rivals.look()
            state.stop = self.checkpoints.after_step(state.step) or state.stop
            reports.after_step(state.step, state.done, loss, summary)

        while not (state.stop or state.over):
            wants_summary = reports.summary_follows(state.step)
            if many is not None and not wants_summary:
                saves = self.checkpoints.next_step() or math.inf
                until = min(last, saves, reports.next_step())
                loss, count, ended = many(until, reports.next_line - state.done)
                if count:
                    step_is_done(count, loss, self.current_step())
                state.over |= ended
            else:
                main = [self.train_op, self.loss, self.graph.global_step]
                main += [self.summary] if wants_summary else []
                feeds = self.workers.next_feeds(self.data, last - state.step)
                if feeds is None:
                    state.over = True
                    break
                try:
                    # Checkpoints and reports come first: a hook finds them done.
                    _, stop = self.hooks.step(
                        main, lambda values: step_is_done(1, *values[1:]), feeds
                    )
                except (StopIteration, tf.errors.OutOfRangeError):
                    if self.workers.wait_in_steps and not self.hooks.taken:
                        found = self.hooks.values(main, feeds)
                        step_is_done(1, *found[1:])
                    stop = True
                state.stop |= stop
            if state.done and np.isnan(state.loss):
                logger.error("Model diverged with loss = NaN.")
                raise NanLossDuringTrainingError
            state.over |= state.step >= last
        if state.stop and not state.over:
            self.workers.tell_end()
        if not state.done:
            logger.warning(
                "Training with estimator made no steps. "
                "Perhaps input is empty or misspecified."
            )
        reports.end()
        self.checkpoints.end(state.step)
        self.hooks.end()
        reports.writer.flush()
        return state.loss

    def current_step(self) -> int:
        """The global step, as the model counts it."""
        with tf.init_scope():
            return int(self.graph.global_step.numpy())
