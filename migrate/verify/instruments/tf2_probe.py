"""Watches a TF2 training loop from the outside, without changing what it does.

A training step is one ``strategy.run`` (or, without a strategy, one gradient
tape) in which a gradient is taken. The probe adds two small host callbacks to
it: one before the forward pass, where weights can be set, read, and training
stopped exactly between two steps; and one at the gradient, where the loss is
known. Both work inside any nesting of ``tf.function`` and loops.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar, cast

import numpy as np
import tensorflow as tf

from ..matching import MatchError
from . import tf2_slots, tf2_weights

__all__ = ["STOPPED", "Probe", "Site", "install", "unconverted"]

STOPPED = "tfmigrate: the wanted number of steps is done"

# An optimizer may be made after the first gradient.
_STEPS_TO_LOOK = 2

Weights = Sequence[tuple[str, np.ndarray[Any, Any]]]


F = TypeVar("F", bound=Callable[..., Any])


def unconverted(function: F) -> F:
    """``function``, safe from autograph when the program's code calls it."""
    return cast(F, tf.autograph.experimental.do_not_convert(function))


class Site:
    """One place in the program that calls ``strategy.run`` or opens a tape."""

    def __init__(self) -> None:
        self.trains = False


class Probe:
    """What one training run shows: losses, weights, figures of metrics."""

    def __init__(self, *, steps: int | None, initial: Weights | None) -> None:
        self.variables = tf2_weights.VariableLog()
        self.stopped = False
        self.done = 0
        # Replicas that the program's own strategy has; 1 without one.
        self.replicas = 1
        # What is wrong, in a sentence, when the probe itself ended the program.
        self.problem: str | None = None
        # The weights that the program drew, where it is given others.
        self.drawn: Weights = ()
        self._limit = steps
        self._inject = initial
        self._injected: list[tuple[str, Any]] | None = None
        self._losses: list[dict[int, float]] = []
        self._before: dict[int, np.ndarray[Any, Any]] = {}
        self._final: Weights | None = None
        self._slots: Weights = ()
        self._optimizers: Sequence[Any] = ()
        # The optimizer's learning rate, unless a schedule gives it.
        self.rate: float | None = None
        self._local = threading.local()
        self._lock = threading.Lock()
        self._eager_sites: dict[Any, Site] = {}
        self._unsure: Site | None = None

    # -- results -----------------------------------------------------------

    @property
    def losses(self) -> list[float]:
        """Loss of each finished step: replicas' shares add up to the mean."""
        return [float(sum(step.values())) for step in self._losses[: self.done] if step]

    def initial_weights(self) -> Weights:
        """Weights before the first step."""
        return [
            (name, self._before[id(tf2_weights.components(variable)[0])])
            for name, variable in self.variables.weights()
            if id(tf2_weights.components(variable)[0]) in self._before
        ]

    def final_weights(self) -> Weights:
        """Weights after the last wanted step."""
        if self._final is None:
            weights = self.variables.weights()
            self._final = tf2_weights.read(weights)
            self._slots = tf2_slots.read_slots(weights, self._optimizers)
            self.rate = tf2_slots.constant_rate(weights, self._optimizers)
        return self._final

    def final_slots(self) -> Weights:
        """What the optimizer kept for each weight after the last wanted step."""
        self.final_weights()
        return self._slots

    def finish(self) -> None:
        """The program has ended: every step that it began is done."""
        if not self.stopped:
            self.done = len(self._losses)

    # -- callbacks, called while the program computes -----------------------

    def _begin(self, site: Site) -> Any:
        with self._lock:
            if not self._losses:
                self._prepare(site)
            if not site.trains:
                # An eager step that may yet turn out to train, at its gradient.
                self._unsure = site
                return np.int64(0)
            if self._limit is not None and len(self._losses) >= self._limit:
                self.done = len(self._losses)
                self.final_weights()
                self.stopped = True
                raise RuntimeError(STOPPED)
            self._losses.append({})
        return np.int64(0)

    def _prepare(self, site: Site) -> None:
        """Before the first step: set the weights, then note what they are."""
        if self._inject is not None and self._injected is None:
            if self.variables.trained:
                weights: list[tuple[str, Any]] | None = self.variables.weights()
            else:
                shapes = [(name, tuple(v.shape)) for name, v in self._inject]
                weights = self.variables.candidates(shapes)
            if weights is not None:
                self._assign(weights, self._inject)
        for variable in self.variables.created:
            if variable.dtype.is_floating:
                self._before[id(variable)] = np.array(variable.read_value())

    def _set_early(self) -> None:
        """Set the weights while the first step is traced, if a model fits them."""
        if self._inject is None or self._injected is not None or self._losses:
            return
        if not tf.executing_eagerly():
            return
        shapes = [(name, tuple(value.shape)) for name, value in self._inject]
        weights = self.variables.candidates(shapes)
        if weights is not None:
            self._assign(weights, self._inject)

    def _assign(self, weights: list[tuple[str, Any]], values: Weights) -> None:
        self.drawn = tf2_weights.read(weights)
        try:
            tf2_weights.assign(weights, values)
        except MatchError as error:
            self.problem = str(error)
            raise
        self._injected = weights

    def _loss(self, site: Site, replica: Any, value: Any) -> Any:
        with self._lock:
            if self._unsure is site:
                self._unsure = None
                if self._inject is not None and self._injected is None:
                    # Too late for this step; tells why no model was found.
                    self._assign(self.variables.weights(), self._inject)
                    self.problem = "the model is made inside its first eager step"
                    raise RuntimeError(self.problem)
                self._losses.append({})
            self.variables.keep()
            if len(self._losses) <= _STEPS_TO_LOOK:
                # Held: a loop may be done with its optimizer before the program ends.
                self._optimizers = tf2_slots.optimizers()
            step = self._losses[-1]
            # Several tapes in one step (several losses): their sum.
            step[int(replica)] = step.get(int(replica), 0.0) + float(value)
        return np.int64(0)

    # -- pieces woven into the program's own graph ---------------------------

    def begin(self, site: Site) -> Any:
        """Emit the callback before a step; its token orders what follows."""
        if tf.executing_eagerly():
            self._begin(site)
            return None
        # Before the first step there is time to set the weights of a model that is
        # seen already. In the graph it could be late: TensorFlow's optimizer lets
        # embeddings be looked up while the callback still waits.
        with tf.init_scope():
            self._set_early()
        # Everything that earlier steps write must have been written.
        reads = [v.read_value() for v in self.variables.created if _readable(v)]
        with tf.control_dependencies(reads):
            return tf.numpy_function(lambda: self._begin(site), [], tf.int64)

    @contextlib.contextmanager
    def inside(self, site: Site, token: Any) -> Iterator[None]:
        """The part of the program that belongs to one step of one replica."""
        previous = getattr(self._local, "site", None)
        self._local.site = site
        try:
            with contextlib.ExitStack() as stack:
                if token is not None:
                    stack.enter_context(tf.control_dependencies([token]))
                yield
        finally:
            self._local.site = previous

    @property
    def gives_weights(self) -> bool:
        """Whether the program is given the weights that it starts from."""
        return self._inject is not None

    def variables_made(self, weights: Sequence[Any]) -> None:
        """The variables of a graph that was traced, before it runs first."""
        self.variables.note_weights(weights)
        if self._inject is not None and self._injected is None:
            self._assign(self.variables.weights(), self._inject)

    def enter_gradient(self) -> bool:
        """Whether a gradient that is taken now is not part of another."""
        if getattr(self._local, "busy", False):
            return False
        self._local.busy = True
        return True

    def leave_gradient(self) -> None:
        """The gradient has been taken."""
        self._local.busy = False

    @property
    def site(self) -> Site | None:
        """The step that is being traced or run by this thread."""
        return getattr(self._local, "site", None)

    def gradient(self, target: Any, sources: Any, compute: Callable[[], Any]) -> Any:
        """Take a gradient and record the loss it was taken of."""
        site = self.site
        flat = tf.nest.flatten(sources)
        trained = [s for s in flat if isinstance(tf2_weights.unwrapped(s), tf.Variable)]
        gradients = compute()
        if site is None or not trained:
            return gradients  # by inputs only, such as a gradient penalty
        site.trains = True
        self.variables.note_trained(trained)
        # float64 holds a float32 loss, and a sum of a few, exactly.
        losses = [
            tf.reduce_sum(tf.cast(t, tf.float64)) for t in tf.nest.flatten(target)
        ]
        loss = losses[0] if len(losses) == 1 else tf.add_n(losses)
        context = tf.distribute.get_replica_context()
        replica = 0 if context is None else context.replica_id_in_sync_group
        if tf.executing_eagerly():
            self._loss(site, replica, loss.numpy())
            return gradients

        def record(number: Any, value: Any) -> Any:
            return self._loss(site, number, value)

        token = tf.numpy_function(record, [replica, loss], tf.int64)
        # The update waits for the callback, so steps are never told apart wrongly.
        with tf.control_dependencies([token]):
            return tf.nest.map_structure(
                lambda g: None if g is None else tf.identity(g), gradients
            )

    def eager_site(self, key: Any) -> Site:
        """The site of an eager caller, the same one each time it calls."""
        return self._eager_sites.setdefault(key, Site())


def _readable(variable: Any) -> bool:
    return variable.dtype not in (tf.resource, tf.variant)


def install(probe: Probe) -> None:
    """Patch this process' TensorFlow; it is the program's own process."""
    _patch_run(probe)
    _patch_tape(probe)


def _patch_run(probe: Probe) -> None:
    classes = [tf.distribute.Strategy, type(tf.distribute.get_strategy())]
    classes += [
        tf.distribute.OneDeviceStrategy,
        tf.distribute.MirroredStrategy,
        tf.distribute.MultiWorkerMirroredStrategy,
        tf.compat.v1.distribute.Strategy,
    ]
    done: set[type] = set()
    for cls in classes:
        owner = next(base for base in cls.__mro__ if "run" in vars(base))
        if owner not in done:
            done.add(owner)
            owner.run = _observed_run(probe, owner.run)


def _observed_run(probe: Probe, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def run(
        strategy: Any, fn: Any, args: Any = (), kwargs: Any = None, options: Any = None
    ) -> Any:
        if probe.site is not None:  # a strategy whose run calls its base's run
            return original(strategy, fn, args, kwargs, options)
        probe.replicas = max(probe.replicas, strategy.num_replicas_in_sync)
        if tf.executing_eagerly():
            site = probe.eager_site(getattr(fn, "python_function", None) or _code(fn))
        else:
            site = Site()
        token = probe.begin(site)
        # The strategy would convert the wrapper below; convert what it wraps.
        autograph = tf.__internal__.autograph
        converted = autograph.tf_convert(
            fn, autograph.control_status_ctx(), convert_by_default=False
        )

        @unconverted
        def observed(*a: Any, **k: Any) -> Any:
            with probe.inside(site, token):
                return converted(*a, **k)

        return original(strategy, observed, args, kwargs, options)

    # Not wrapped in `unconverted`: functools.wraps made it a function of
    # TensorFlow's in autograph's eyes, and the caller's conversion status, which
    # tf_convert above needs, survives only so.
    return run


def _code(fn: Any) -> Any:
    """What stays the same of a function that is defined anew in each call."""
    while isinstance(fn, functools.partial):
        fn = fn.func
    return getattr(fn, "__code__", None) or fn


def _patch_tape(probe: Probe) -> None:
    tape = tf.GradientTape
    enter, leave, gradient = tape.__enter__, tape.__exit__, tape.gradient

    @functools.wraps(enter)
    def observed_enter(self: Any) -> Any:
        # Without a strategy the tape is where a step begins.
        if probe.site is None and not getattr(self, "_tfmigrate_step", None):
            import sys

            frame = sys._getframe(1)
            site = (
                probe.eager_site((frame.f_code, frame.f_lineno))
                if tf.executing_eagerly()
                else Site()
            )
            step = probe.inside(site, probe.begin(site))
            step.__enter__()
            self._tfmigrate_step = (site, step)
        return enter(self)

    @functools.wraps(leave)
    def observed_leave(self: Any, *error: Any) -> Any:
        step = getattr(self, "_tfmigrate_step", None)
        result = leave(self, *error)
        if step is not None:
            step[1].__exit__(None, None, None)
            self._tfmigrate_step = (step[0], None)
        return result

    @functools.wraps(gradient)
    def observed_gradient(
        self: Any, target: Any, sources: Any, *args: Any, **kwargs: Any
    ) -> Any:
        def compute() -> Any:
            return gradient(self, target, sources, *args, **kwargs)

        if getattr(probe._local, "busy", False):
            return compute()
        own = getattr(self, "_tfmigrate_step", None)
        probe._local.busy = True
        try:
            if probe.site is None and own is not None:
                with probe.inside(own[0], None):
                    return probe.gradient(target, sources, compute)
            return probe.gradient(target, sources, compute)
        finally:
            probe._local.busy = False

    tape.__enter__ = unconverted(observed_enter)
    tape.__exit__ = unconverted(observed_leave)
    tape.gradient = unconverted(observed_gradient)
