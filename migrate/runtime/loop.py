"""The loop: steps until it is time for something else, then that, then more steps."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import tensorflow as tf

from .asked import CLUSTERS, HOOKS, PROFILES
from .checkpoints import Checkpoints, event_writer
from .graph import ModelGraph
from .hooks import HookRunner
from .inputs import ModelInput
from .vocabulary import logger, v1
from .workers import Workers

SECONDS_PER_CALL = 1.0
STEPS_PER_CALL = 10_000


def steps_per_call(rate: float) -> int:
    """How many steps are taken in one call, at a number of steps per second.

    As long as it takes, checkpoints by the clock wait, and so does Ctrl-C.
    """
    return max(1, min(int(rate * SECONDS_PER_CALL), STEPS_PER_CALL))


class ManySteps:
    """Steps of a model in one call."""

    def __init__(
        self,
        graph: ModelGraph,
        data: ModelInput,
        operation: Any,
        loss: Any = None,
        workers: Any = None,
    ):
        step = graph.call([operation, loss], data.tensors)
        counter = graph.global_step
        kind = tf.float32 if loss is None else loss.dtype
        self.rate = 1.0
        if CLUSTERS:
            self.workers = workers or Workers(None)
            all_go_on = self.workers.all_go_on

        def run(until: Any, limit: Any, source: Any = None) -> tuple[Any, Any, Any]:
            done = tf.constant(0, tf.int64)
            last = tf.constant(0, kind)
            goes_on, ended = limit > 0, False
            while goes_on:
                batches = data.optional_batches(source=source)
                # Asked for first: an error in the middle of a loop may be waited for
                # by another device.
                there = tf.reduce_all([batch.has_value() for batch in batches])
                if CLUSTERS:
                    there = all_go_on(there)
                if there:
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
        most = min(limit, steps_per_call(self.rate))
        if CLUSTERS:
            most = min(limit, self.workers.steps_together or most)
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

    if PROFILES:

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


class TrainingLoop:
    """Steps of a traced model with everything that happens between them."""

    def __init__(
        self, model: Any, checkpoints: Checkpoints, config: Any, workers: Any = None
    ):
        self.model, self.graph = model, model.graph
        self.checkpoints, self.config = checkpoints, config
        self.step = self.current_step()
        # Steps of this run of training, and the loss of the last one.
        self.done = 0
        self.last_loss: Any = None
        # Whether something wants to end, and whether nothing is left to do.
        self.stop = self.over = False
        if CLUSTERS:
            self.workers = workers
        if HOOKS:
            self.hooks = HookRunner(self.graph, model.hooks)
        if CLUSTERS and workers.hook_runner is not None:
            self.hooks = workers.hook_runner(self.graph, model.hooks)

    def run(self, last: float) -> Any:
        """Trains until a step; gives the last loss."""
        self.checkpoints.start(self.step)
        if HOOKS:
            self.hooks.start()
        summaries = self.model.summary is not None
        kind: Any = (self.config.reports or StepReports) if PROFILES else StepReports
        self.reports = kind(self.graph, self.config, self.step, summaries=summaries)
        many = self.many_steps()
        while not (self.stop or self.over):
            summary_follows = self.reports.summary_follows(self.step)
            if many is None or summary_follows:
                summary = self.model.summary if summary_follows else None
                self.take_one(summary, last=last)
            else:
                self.take_many(last, many)
            if self.done and np.isnan(self.last_loss):
                logger.error("Model diverged with loss = NaN.")
                raise v1.train.NanLossDuringTrainingError
            self.over |= self.step >= last
        self.end()
        return self.last_loss

    def many_steps(self) -> ManySteps | None:
        """Steps in one call, where nobody looks at each."""
        data = self.model.data
        if data.iterator is None or (HOOKS and self.hooks.wanted_each_step):
            return None
        train_op, loss = self.model.train_op, self.model.loss
        if CLUSTERS:
            kind = self.workers.many_steps or ManySteps
            made: ManySteps = kind(
                self.graph, data, train_op, loss, workers=self.workers
            )
            return made
        return ManySteps(self.graph, data, train_op, loss)

    def take_many(self, last: float, many: ManySteps) -> None:
        """Takes steps until something is due."""
        saves = self.checkpoints.next_step() or math.inf
        until = min(last, saves, self.reports.next_step())
        loss, count, ended = many(until, self.reports.next_line - self.done)
        if count:
            self.steps_are_done(count, loss, self.current_step())
        self.over |= ended

    def take_one(self, summary: Any, last: float) -> None:
        """Takes one step."""
        wanted = [self.model.train_op, self.model.loss, self.graph.global_step]
        if summary is not None:
            wanted.append(summary)
        if CLUSTERS:
            feeds = self.workers.next_feeds(self.model.data, last - self.step)
            if feeds is None:
                self.over = True
                return
        try:
            if HOOKS:
                # Checkpoints and reports come first: a hook finds them done.
                given = feeds if CLUSTERS else None
                _, stop = self.hooks.step(wanted, self.step_is_done, given)
                self.stop |= stop
            else:
                self.step_is_done(self.graph.values(wanted))
        except (StopIteration, tf.errors.OutOfRangeError):
            if CLUSTERS and self.workers.wait_in_steps and not self.hooks.taken:
                self.step_is_done(self.hooks.values(wanted, feeds, own=len(wanted)))
            self.stop = True

    def step_is_done(self, values: list[Any]) -> None:
        """What follows from the values of one step."""
        self.steps_are_done(1, *values[1:])

    def steps_are_done(
        self, count: int, loss: Any, step: int, summary: Any = None
    ) -> None:
        """Saves and says what is due after some steps."""
        self.step, self.last_loss = step, loss
        self.done += count
        self.stop = self.checkpoints.after_step(step) or self.stop
        self.reports.after_step(step, self.done, loss, summary)

    def end(self) -> None:
        """Saves and says what is left at the end."""
        if CLUSTERS and self.stop and not self.over:
            self.workers.tell_end()
        if not self.done:
            logger.warning(
                "Training with estimator made no steps. "
                "Perhaps input is empty or misspecified."
            )
        if PROFILES:
            self.reports.end()
        self.checkpoints.end(self.step)
        if HOOKS:
            self.hooks.end()
        self.reports.writer.flush()

    def current_step(self) -> int:
        """The global step, as the model counts it."""
        with tf.init_scope():
            return int(self.graph.global_step.numpy())
