"""Watches the trainings of a TF2 program from the outside.

A training step is one ``strategy.run`` (or, without a strategy, one gradient
tape) in which a gradient is taken. The probe adds two small host callbacks to
it: one before the forward pass, where weights can be set, read, and training
stopped exactly between two steps; and one at the gradient, where the loss is
known. Both work inside any nesting of ``tf.function``, traces and loops.

Steps that change the same variables are one training, and so are those that one
object with the Estimator's methods takes (``tf2_trainers``).
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar, cast

import numpy as np
import tensorflow as tf

from ..matching import told_apart
from . import tf2_slots, tf2_weights
from .legacy_matching import MatchError
from .legacy_record import Record
from .legacy_start import StartingWeights, weights_of
from .legacy_weights import drawn_weights
from .tf2_weights import components, identity, unwrapped

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

    def __init__(self, *, eager: bool = False) -> None:
        self.eager = eager
        self.replicas = 1
        # The training whose steps are taken here; None where no gradient is taken.
        self.training: Training | None = None
        # A step has begun and none of its losses is known yet.
        self.begun = False
        # The loss that a step tells, where it may minimize something else.
        self.shown: Any = None


class Training(Record):
    """What one training shows: its losses, weights and figures."""

    def __init__(self, name: str = "", files: str | None = None) -> None:
        super().__init__(None, name)  # type: ignore[no-untyped-call]
        self.files = files
        # The object that trains, and what trains in its place: a worker, say.
        self.parts: list[Any] = []
        self.evaluates = False
        self.asked_in_vain = 0
        # The step that it goes on from, and the loss of each step by replica.
        self.start = 0
        self.steps: list[dict[int, float]] = []
        # Its trained variables; its weights before and after, and those that the
        # program drew where it is given others.
        self.variables: list[Any] = []
        self.before: Weights = ()
        self.after: Weights = ()
        self.own: Weights = ()
        # It has its first weights; it has had its last step.
        self.is_given = False
        self.is_full = False
        # Its steps when it was noted where it had come to.
        self.closed_at = -1
        self.optimizers: Sequence[Any] = ()
        self._weights: tuple[int, list[tuple[str, Any]]] = (0, [])

    @property
    def step(self) -> int:
        """The step that it has come to."""
        return self.start + len(self.steps)

    def places_of_trained(self, variables: Iterable[Any]) -> list[int]:
        """Places of the variables by which a gradient was taken: its own weights."""
        known = {identity(variable) for variable in self.variables}
        return [n for n, v in enumerate(variables) if identity(v) in known]

    def weights(self, log: tf2_weights.VariableLog) -> list[tuple[str, Any]]:
        """Its model's weights; held, for the model may be gone when it has ended."""
        if self._weights[0] != len(self.variables):
            self._weights = len(self.variables), log.weights_of(self.variables)
        return self._weights[1]

    def close(self, log: tf2_weights.VariableLog) -> None:
        """Note where it has come to."""
        self.closed_at = len(self.steps)
        weights = self.weights(log)
        self.after = tf2_weights.read(weights)
        self.slots = tf2_slots.read_slots(weights, self.optimizers)
        self.constants = tf2_slots.constants(weights, self.optimizers)
        self.used = log.uses(weights)
        self.trained = self.places_of_trained(v for _, v in weights)

    def finish(self, figures: dict[str, float], *, ran_whole: bool) -> None:
        """What a recording says of it, when the program has ended."""
        self.figures, self.ran_whole = figures, ran_whole
        # Replicas' shares add up to the mean.
        self.losses = [float(sum(step.values())) for step in self.steps]
        self.global_step = self.step
        self.names = [name for name, _ in self.before or self.after]
        self.initial = [value for _, value in self.before]
        self.final = [value for _, value in self.after]
        drawn = self.own or self.before
        self.drawn = drawn_weights(told_apart(drawn), [value for _, value in drawn])


class Probe:
    """The trainings of a program, in the order in which they began."""

    def __init__(self, *, steps: int | None, starting: StartingWeights) -> None:
        self.log = tf2_weights.VariableLog()
        self.limit = steps
        self.stopped = False
        # What is wrong, in a sentence, when the probe itself ended the program.
        self.problem: str | None = None
        # The training of the object that trains now.
        self.open: Training | None = None
        # The one that took the last step.
        self.latest: Training | None = None
        # Those that took a step, in the order of their first.
        self.trainings: list[Training] = []
        self._all: list[Training] = []
        self._starting = starting
        # Values before the first eager step that may train: of all variables, and
        # what was drawn for those that were given others.
        self._early: dict[int, np.ndarray[Any, Any]] = {}
        self._early_given: dict[frozenset[int], Training] = {}
        self._looked_at = -1
        self._local = threading.local()
        self._lock = threading.RLock()
        self._eager_sites: dict[Any, Site] = {}

    # -- results -----------------------------------------------------------

    def add(self, training: Training) -> Training:
        """Take note of a training."""
        self._all.append(training)
        return training

    def is_done(self, training: Training | None) -> bool:
        """Whether a training has taken all the steps that are wanted."""
        if training is None or self.limit is None:
            return False
        return training.step >= self.limit

    def finish(self) -> None:
        """The program has ended."""
        for training in self.trainings:
            if not training.is_full and training.closed_at != len(training.steps):
                training.close(self.log)

    # -- callbacks, called while the program computes -----------------------

    def _begin(self, site: Site) -> Any:
        with self._lock:
            site.begun = True
            training = site.training
            if site.eager and len(self.log.created) > self._looked_at:
                # It may turn out to train a model that nobody knows, at its gradient.
                self._look_for_models()
            if training is None:
                return np.int64(0)
            if not training.steps:
                self._start(training)
            elif self.is_done(training) and not training.is_full:
                training.close(self.log)
                training.is_full = True
        return np.int64(0)

    def _start(self, training: Training) -> None:
        """Before its first step: set the weights, then note what they are."""
        weights = training.weights(self.log)
        if not training.is_given:
            self._give(training, weights, strict=True)
        if not training.before:
            training.before = tf2_weights.read(weights)

    def _give(
        self, training: Training, weights: list[tuple[str, Any]], *, strict: bool
    ) -> None:
        if training.start or not self._starting.given:
            return
        drawn = tf2_weights.read(weights)
        places = training.places_of_trained(v for _, v in weights)
        told = {"used": self.log.uses(weights), "trained": places}
        try:
            values = self._starting.values_for(
                training.name, weights_of(drawn, told), strict
            )
        except MatchError as error:
            self.problem = str(error)
            raise
        if values is not None:
            copies = self.log.copies_of(drawn)
            tf2_weights.assign(weights, values)
            begun = [values[place] for _, place in copies]
            tf2_weights.assign([("", variable) for variable, _ in copies], begun)
            training.own = drawn
            training.paired = self._starting.evidence
            training.is_given = True

    def _look_for_models(self) -> None:
        """Before an eager step: give weights to the models that they fit.

        The gradient tells which model it trains, but only after its forward pass.
        """
        taken = [variable for each in self._all for variable in each.variables]
        for shapes in self._starting.free_shapes():
            models = self.log.models(shapes, taken)
            if len(models) == 1:
                holder = Training(self.open.name if self.open else "")
                holder.variables = [variable for _, variable in models[0]]
                self._give(holder, models[0], strict=False)
                key = frozenset(identity(v) for _, v in models[0])
                self._early_given[key] = holder
        for variable in self.log.created:
            if variable.dtype.is_floating:
                self._early[id(variable)] = np.array(variable.read_value())
        self._looked_at = len(self.log.created)

    def _start_eagerly(self, training: Training) -> None:
        """At the first gradient: note the weights that its step began with."""
        weights = training.weights(self.log)
        for key, holder in self._early_given.items():
            if any(identity(variable) in key for _, variable in weights):
                training.own, training.paired = holder.own, holder.paired
                training.is_given = holder.is_given
        if not training.is_given and not training.start and self._starting.given:
            # Too late for this step; tells why no model was found.
            self._give(training, weights, strict=True)
            if training.is_given:
                self.problem = (  # type: ignore[unreachable]
                    "the model is made inside its first eager step"
                )
                raise RuntimeError(self.problem)
        places = [id(components(variable)[0]) for _, variable in weights]
        # None where the model was made in the step itself.
        if all(place in self._early for place in places):
            training.before = [
                (name, self._early[place])
                for (name, _), place in zip(weights, places, strict=True)
            ]

    def _loss(self, site: Site, replica: Any, value: Any) -> Any:
        with self._lock:
            training = cast(Training, site.training)
            if self.is_done(training) and site.begun:
                self.stopped = True
                raise RuntimeError(STOPPED)
            if not training.steps and not training.before:
                self._start_eagerly(training)
            if site.begun:
                site.begun = False
                if not training.steps:
                    self.trainings.append(training)
                training.steps.append({})
                self.latest = training
            training.weights(self.log)
            if len(training.steps) <= _STEPS_TO_LOOK:
                # Held: a loop may be done with its optimizer before the program ends.
                training.optimizers = tf2_slots.optimizers()
            step = training.steps[-1]
            # Several tapes in one step (several losses): their sum.
            step[int(replica)] = step.get(int(replica), 0.0) + float(value)
        return np.int64(0)

    # -- pieces woven into the program's own graph ---------------------------

    def begin(self, site: Site) -> Any:
        """Emit the callback before a step; its token orders what follows."""
        if site.eager:
            self._begin(site)
            return None
        # Everything that earlier steps write must have been written.
        unreadable = (tf.resource, tf.variant)
        created = [v for v in self.log.created if v.dtype not in unreadable]
        reads = [variable.read_value() for variable in created]
        with tf.control_dependencies(reads):
            return tf.numpy_function(lambda: self._begin(site), [], tf.int64)

    @contextlib.contextmanager
    def inside(self, site: Site, token: Any) -> Iterator[None]:
        """The part of the program that belongs to one step of one replica."""
        previous = self.site
        self._local.site = site
        try:
            with contextlib.ExitStack() as stack:
                if token is not None:
                    stack.enter_context(tf.control_dependencies([token]))
                yield
        finally:
            self._local.site = previous

    def note_use(self, variable: Any) -> None:
        """A variable is read; within a step its turn tells what it is."""
        if self.site is not None:
            self.log.note_use(variable)

    @property
    def site(self) -> Site | None:
        """The step that is being traced or run by this thread."""
        return getattr(self._local, "site", None)

    def training_at(self, site: Site, trained: Sequence[Any]) -> Training:
        """The training that a step belongs to by what its gradient is taken by."""
        if self.open is not None:
            site.training = self.open
        elif site.training is None or (site.eager and site.begun):
            known = [each for each in self._all if each.places_of_trained(trained)]
            site.training = known[0] if known else self.add(Training())
        training = site.training
        old = training.places_of_trained(trained)
        training.variables += [v for n, v in enumerate(trained) if n not in old]
        training.replicas = max(training.replicas, site.replicas)
        return training

    def gradient(self, target: Any, sources: Any, compute: Callable[[], Any]) -> Any:
        """Take a gradient and record the loss it was taken of."""
        site = self.site
        flat = tf.nest.flatten(sources)
        trained = [s for s in flat if isinstance(unwrapped(s), tf.Variable)]
        gradients = compute()
        if site is None or not trained:
            return gradients  # by inputs only, such as a gradient penalty
        with self._lock:
            training = self.training_at(site, trained)
        # float64 holds a float32 loss, and a sum of a few, exactly.
        if site.shown is not None:
            target, site.shown = site.shown, 0.0
        losses = tf.nest.flatten(target)
        loss = tf.add_n([tf.reduce_sum(tf.cast(each, tf.float64)) for each in losses])
        context = tf.distribute.get_replica_context()
        replica = 0 if context is None else context.replica_id_in_sync_group
        if site.eager:
            self._loss(site, replica, loss.numpy())
            return gradients
        # Before the step runs there is time to set the weights. In the graph it
        # could be late: TensorFlow's optimizer lets embeddings be looked up while
        # the callback still waits.
        with tf.init_scope(), self._lock:
            if not (training.is_given or training.steps) and tf.executing_eagerly():
                weights = training.weights(self.log)
                if tf2_weights.are_initialized(weights):
                    self._give(training, weights, strict=False)

        def record(number: Any, value: Any) -> Any:
            return self._loss(site, number, value)

        token = tf.numpy_function(record, [replica, loss], tf.int64)
        # The update waits for the callback, so steps are never told apart wrongly.
        with tf.control_dependencies([token]):
            return tf.nest.map_structure(
                lambda g: None if g is None else tf.identity(g), gradients
            )

    @contextlib.contextmanager
    def in_gradient(self) -> Iterator[bool]:
        """Whether a gradient that is taken now is not part of another."""
        outer = getattr(self._local, "busy", False)
        self._local.busy = True
        try:
            yield not outer
        finally:
            self._local.busy = outer

    def eager_site(self, key: Any) -> Site:
        """The site of an eager caller, the same one each time it calls."""
        return self._eager_sites.setdefault(key, Site(eager=True))


def install(probe: Probe) -> None:
    """Patch this process' TensorFlow; it is the program's own process."""
    _patch_run(probe)
    _patch_tape(probe)
    _patch_reads(probe)
    _patch_fit(probe)


def _patch_run(probe: Probe) -> None:
    classes = [
        tf.distribute.Strategy,
        type(tf.distribute.get_strategy()),
        tf.distribute.OneDeviceStrategy,
        tf.distribute.MirroredStrategy,
        tf.distribute.MultiWorkerMirroredStrategy,
        tf.compat.v1.distribute.Strategy,
    ]
    bases = [[base for base in cls.__mro__ if "run" in vars(base)] for cls in classes]
    for owner in {first for first, *_ in bases}:
        owner.run = _observed_run(probe, owner.run)


def _observed_run(probe: Probe, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def run(
        strategy: Any, fn: Any, args: Any = (), kwargs: Any = None, options: Any = None
    ) -> Any:
        if probe.site is not None:  # a strategy whose run calls its base's run
            return original(strategy, fn, args, kwargs, options)
        if tf.executing_eagerly():
            site = probe.eager_site(getattr(fn, "python_function", None) or _code(fn))
        else:
            site = Site()
        site.replicas = strategy.num_replicas_in_sync
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

        own = getattr(self, "_tfmigrate_step", None)
        with contextlib.ExitStack() as stack:
            if not stack.enter_context(probe.in_gradient()):
                return compute()
            if probe.site is None and own is not None:
                stack.enter_context(probe.inside(own[0], None))
            return probe.gradient(target, sources, compute)

    tape.__enter__ = unconverted(observed_enter)
    tape.__exit__ = unconverted(observed_leave)
    tape.gradient = unconverted(observed_gradient)


def _patch_reads(probe: Probe) -> None:
    """Note in which order steps use their variables."""
    module: Any = importlib.import_module("tensorflow.python.ops.resource_variable_ops")
    accessed = module.variable_accessed

    @functools.wraps(accessed)
    def variable_accessed(variable: Any) -> None:
        probe.note_use(variable)
        accessed(variable)

    module.variable_accessed = variable_accessed


def _patch_fit(probe: Probe) -> None:
    """Let `fit` end by itself when the wanted steps are done, as a training would."""
    for library in tf2_weights.kerases():
        library.Model.fit = _limited(probe, library)


def _limited(probe: Probe, library: Any) -> Callable[..., Any]:
    fit = library.Model.fit

    class Stop(library.callbacks.Callback):
        def on_train_batch_end(self, batch: Any, logs: Any = None) -> None:
            self.model.stop_training |= probe.is_done(probe.latest)

    @functools.wraps(fit)
    def limited(model: Any, *args: Any, **kwargs: Any) -> Any:
        callbacks = kwargs.get("callbacks") or []
        if probe.limit is not None and len(args) < 6:
            if isinstance(callbacks, (list, tuple)):
                kwargs["callbacks"] = [*callbacks, Stop()]
            else:
                callbacks.append(Stop())
        return fit(model, *args, **kwargs)

    return limited
