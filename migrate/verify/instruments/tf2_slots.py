"""What the optimizers of a TF2 program keep for each weight, and compute with."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from ..checkpoints.contents import keras_lists
from . import tf2_weights

Slot = tuple[str, np.ndarray[Any, Any]]


def read_slots(weights: Sequence[tuple[str, Any]], held: Sequence[Any]) -> list[Slot]:
    """The slots of these weights, named by the weight's place: ``#0|m``."""
    found: dict[str, Any] = {}
    for optimizer in held:
        for index, kind, slot in _slots_of(optimizer, weights):
            found.setdefault(f"#{index}|{kind}", slot)
    return tf2_weights.read(sorted(found.items()))


def constants(
    weights: Sequence[tuple[str, Any]], held: Sequence[Any]
) -> dict[str, float]:
    """What the weights' optimizer computes with, as far as it is one number each."""
    found = {}
    for optimizer in held:
        if not [*_slots_of(optimizer, weights)]:
            continue
        # Unless a schedule gives it.
        rate = getattr(optimizer, "_learning_rate", None)
        if rate is not None and not callable(rate):
            found["learning_rate"] = float(np.asarray(tf2_weights.unwrapped(rate)))
        epsilon = getattr(optimizer, "epsilon", getattr(optimizer, "_epsilon", None))
        if isinstance(epsilon, (int, float)):
            found["epsilon"] = float(epsilon)
    return found


def optimizers() -> list[Any]:
    """Every optimizer that is there now; to be held: a loop may drop its own."""
    kinds: list[type] = [tf.compat.v1.train.Optimizer]
    for library in tf2_weights.kerases():
        kinds.append(library.optimizers.Optimizer)
        legacy: Any = getattr(library.optimizers, "legacy", None)
        kinds += [legacy.Optimizer] if hasattr(legacy, "Optimizer") else []
    wanted = tuple(kinds)
    return [each for each in gc.get_objects() if issubclass(type(each), wanted)]


def _slots_of(
    optimizer: Any, weights: Sequence[tuple[str, Any]]
) -> Iterator[tuple[int, str, Any]]:
    """Place of a weight, kind, slot."""
    if hasattr(optimizer, "get_slot_names"):
        # TF 1's, and Keras' before its version 2.11, which keeps steps, not gradients.
        keras = "keras" in type(optimizer).__module__
        for index, (_, variable) in enumerate(weights):
            for kind in optimizer.get_slot_names():
                try:
                    slot = optimizer.get_slot(variable, kind)
                except (KeyError, AttributeError, ValueError):
                    continue
                if slot is not None:
                    told = "velocity" if keras and kind == "momentum" else kind
                    yield index, told, slot
        return
    lists = {
        name: value
        for name, value in vars(optimizer).items()
        if isinstance(value, (list, tuple)) and len(value)
    }
    made_by = type(optimizer).__module__.partition(".")[0]
    places = _places(optimizer)
    names = set(lists)
    if hasattr(optimizer, "rho") and "_velocities" in names:
        # RMSprop, whether it is centered or not; Adam has lists of these names too.
        names.add("_average_gradients")
    for name, kind in keras_lists(names).items():
        if name not in lists:
            continue
        if kind == "velocity" and not getattr(optimizer, "momentum", 1.0):
            continue  # Keras keeps a step there, which nothing reads
        if kind == "velocity" and made_by not in ("keras", "tf_keras"):
            # Momentum as TF 1 has it: a sum of gradients, under Keras' name.
            kind = "momentum"
        for index, (_, variable) in enumerate(weights):
            place = places(variable)
            if place is not None and place < len(lists[name]):
                yield index, kind, lists[name][place]


def _places(optimizer: Any) -> Callable[[Any], int | None]:
    """Which of an optimizer's slots of one kind belongs to a variable."""
    by_key: dict[Any, int] = getattr(optimizer, "_index_dict", {})
    by_id = {
        id(tf2_weights.components(each)[0]): index
        for index, each in enumerate(getattr(optimizer, "_trainable_variables", ()))
    }

    def place(variable: Any) -> int | None:
        if by_key:
            return by_key.get(optimizer._var_key(variable))
        return by_id.get(id(tf2_weights.components(variable)[0]))

    return place


def round_constants() -> None:
    """Let every optimizer made from now on hold its decay rates as float32.

    TF1's Adam computed ``1 - beta2`` from the float32 nearest to 0.999, Keras
    computes it in double precision: 1.3e-5 of it, and 6e-6 of the first updates,
    are lost between the two. That is rounding, and this shows how much of it a
    program amplifies.
    """
    for library in tf2_weights.kerases():
        base = library.optimizers.Optimizer
        for cls in vars(library.optimizers).values():
            own = isinstance(cls, type) and "__init__" in vars(cls)
            if own and issubclass(cls, base) and cls is not base:
                cls.__init__ = _rounding(cls.__init__)


def _rounding(original: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(original)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        for name in ("beta_1", "beta_2", "rho"):
            value = getattr(self, name, None)
            if isinstance(value, float):
                setattr(self, name, float(np.float32(value)))

    return init
