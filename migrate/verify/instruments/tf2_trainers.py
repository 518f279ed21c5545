"""Watches objects with the Estimator's methods in a TF2 program.

A class is one of theirs when its ``train`` takes an ``input_fn`` and ``max_steps``, as
the Trainer of a rewritten program does. What such an object trains is one training; it
is asked for no more steps than are wanted, and what its ``evaluate`` returns are the
figures of the training.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import inspect
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import tensorflow as tf

from .legacy_patches import step_in
from .legacy_start import training_name
from .tf2_files import kept_apart
from .tf2_probe import STOPPED, Probe, Training, unconverted

# A program that asks so often for steps of a training that has them all never ends.
_PATIENCE = 100


class Trainers:
    """The objects that train, in the order in which they were asked for anything.

    ``make`` makes the folder that one was given, where a program may write after it.
    """

    def __init__(self, probe: Probe, files: Path, make: Callable[[str], Any]) -> None:
        self._probe = probe
        self._files = files
        self._make = make
        self._known: list[Training] = []
        # The folders that objects were given, by those in which checkpoints are kept.
        self._given: dict[str, str] = {}

    def install(self) -> None:
        """Wait for the class: it may stand in a module of the program or in itself."""
        build = builtins.__build_class__

        def watching(body: Any, name: str, *bases: Any, **keywords: Any) -> Any:
            made = build(body, name, *bases, **keywords)
            if is_trainer(made):
                self._watch(made)
            elif {"loss", "train_step"} <= vars(made).keys():
                made.loss = self._watched_loss(made.loss)
            return made

        builtins.__build_class__ = watching  # type: ignore[assignment]

    def _training(self, trainer: Any) -> Training:
        for each in self._known:
            if any(part is trainer for part in each.parts):
                return each
        given = str(getattr(trainer, "model_dir", None) or tempfile.mkdtemp())
        folder = kept_apart(self._files, given)
        outer = self._probe.open
        if outer is not None and outer.files == folder:
            outer.parts.append(trainer)
            return outer
        with contextlib.suppress(AttributeError):  # one that works it out is left
            trainer.model_dir = folder
        training = self._probe.add(Training(training_name(given), folder))
        training.estimator, training.parts = trainer, [trainer]
        self._given[folder] = given
        self._known.append(training)
        return training

    def _watch(self, cls: Any) -> None:
        if "__init__" in vars(cls):
            cls.__init__ = self._watched_init(cls.__init__)
        if "train" in vars(cls):
            cls.train = self._watched_train(cls.train)
        if "evaluate" in vars(cls):
            cls.evaluate = self._watched_evaluate(cls.evaluate)

    def _watched_loss(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """The loss of a task with a step of its own, which may minimize another."""

        @functools.wraps(original)
        def loss(*args: Any) -> Any:
            found = original(*args)
            if self._probe.site is not None:
                self._probe.site.shown = found
            return found

        return loss

    def _watched_init(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def init(trainer: Any, *args: Any, **kwargs: Any) -> None:
            original(trainer, *args, **kwargs)
            self._training(trainer)

        return unconverted(init)

    def _watched_train(self, original: Callable[..., Any]) -> Callable[..., Any]:
        probe = self._probe

        @functools.wraps(original)
        def train(trainer: Any, *args: Any, **kwargs: Any) -> Any:
            training = self._training(trainer)
            if probe.open is training:  # a subclass' train that calls its base's
                return original(trainer, *args, **kwargs)
            given = _signature(type(trainer)).bind(trainer, *args, **kwargs)
            training.input_fn = training.input_fn or given.arguments["input_fn"]
            step = max(training.step, step_in(tf, training.files))
            if not training.steps:
                training.start = step
            if probe.limit is not None:
                left = probe.limit - step
                if left <= 0:
                    training.asked_in_vain += 1
                    if training.asked_in_vain > _PATIENCE:
                        probe.stopped = True
                        raise RuntimeError(STOPPED)
                    return trainer
                _ask_for_less(given.arguments, left, probe.limit)
            self._make(self._given[str(training.files)])
            outer, probe.open = probe.open, training
            try:
                result = original(*given.args, **given.kwargs)
            finally:
                probe.open = outer
            if training.steps:
                training.close(probe.log)
            return result

        return unconverted(train)

    def _watched_evaluate(self, original: Callable[..., Any]) -> Callable[..., Any]:
        signature = inspect.signature(original)

        @functools.wraps(original)
        def evaluate(trainer: Any, *args: Any, **kwargs: Any) -> Any:
            training = self._training(trainer)
            if training.evaluates:  # a subclass' evaluate that calls its base's
                return original(trainer, *args, **kwargs)
            given = signature.bind(trainer, *args, **kwargs).arguments
            training.input_fn = given.get("input_fn") or training.input_fn
            training.evaluates = True
            try:
                result = original(trainer, *args, **kwargs)
            finally:
                training.evaluates = False
            if isinstance(result, Mapping):
                figures = {str(name): value for name, value in result.items()}
                training.evaluations.append(figures)
            return result

        return unconverted(evaluate)


def is_trainer(cls: Any) -> bool:
    """Whether objects of a class train and evaluate as Estimators do."""
    return callable(getattr(cls, "evaluate", None)) and _signature(cls) is not None


def _signature(cls: type) -> Any:
    """The parameters of `train`, which a subclass may hand on as they come."""
    for base in cls.__mro__:
        train = vars(base).get("train")
        if inspect.isfunction(train):
            signature = inspect.signature(train)
            if {"input_fn", "max_steps"} <= set(signature.parameters):
                return signature
    return None


def _ask_for_less(arguments: dict[str, Any], left: int, last: int) -> None:
    """Limit the steps that are asked for, in whichever way they are."""
    if arguments.get("steps") is not None:
        arguments["steps"] = min(arguments["steps"], left)
    else:
        asked = arguments.get("max_steps")
        arguments["max_steps"] = last if asked is None else min(asked, last)
