"""Finding, reading and setting the model weights of a foreign TF2 program."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf


def unwrapped(variable: Any) -> Any:
    """The TensorFlow variable behind ``variable``, which may be Keras 3's."""
    if isinstance(variable, tf.Variable):
        return variable
    value = getattr(variable, "value", None)
    return value if isinstance(value, tf.Variable) else variable


def identity(variable: Any) -> int:
    """What is the same for all objects that stand for one variable."""
    return id(unwrapped(variable))


def components(variable: Any) -> Sequence[Any]:
    """The copies of one variable, one for each replica."""
    return tuple(getattr(unwrapped(variable), "values", None) or (unwrapped(variable),))


def kerases() -> list[Any]:
    """Every Keras that the program has loaded."""
    return [sys.modules[n] for n in ("keras", "tf_keras") if n in sys.modules]


class VariableLog:
    """Every variable of the program, in order of creation and of first use."""

    def __init__(self) -> None:
        # Components, as TensorFlow makes them; containers of several replicas
        # are found again through their first component.
        self.created: list[Any] = []
        self._order: dict[int, int] = {}
        self._used: dict[int, int] = {}

    def creator(self, next_creator: Any, **kwargs: Any) -> Any:
        """A variable creator, for :func:`tf.variable_creator_scope`."""
        variable = next_creator(**kwargs)
        self._order[id(variable)] = len(self.created)
        self.created.append(variable)
        return variable

    def note_use(self, variable: Any) -> None:
        """A step reads this variable."""
        self._used.setdefault(id(variable), len(self._used))

    def uses(self, weights: Sequence[tuple[str, Any]]) -> list[int]:
        """Places of the weights that steps read, in the order of first use."""
        turns = []
        for place, (_, variable) in enumerate(weights):
            used = [self._used.get(id(copy)) for copy in components(variable)]
            known = [turn for turn in used if turn is not None]
            if known:
                turns.append((min(known), place))
        return [place for _, place in sorted(turns)]

    def copies_of(
        self, drawn: Sequence[tuple[str, np.ndarray[Any, Any]]]
    ) -> list[tuple[Any, int]]:
        """Variables that are what chance drew for a weight, and the weight's place.

        The weights themselves, and what begins as they do, such as moving averages.
        """
        places = {
            (value.shape, value.tobytes()): place
            for place, (_, value) in enumerate(drawn)
            if value.size > 1 and np.ptp(value) > 0
        }
        found = []
        for variable in self.created:
            if variable.dtype.is_floating and bool(variable.is_initialized()):
                value = np.asarray(variable.read_value())
                place = places.get((value.shape, value.tobytes()))
                if place is not None:
                    found.append((variable, place))
        return found

    def weights_of(self, trained: Sequence[Any]) -> list[tuple[str, Any]]:
        """Names and variables of a model's weights, in order of creation.

        The trained variables are known from the gradients; the others (moving
        averages, frozen layers) belong to the models which hold a trained one.
        """
        chosen = {identity(v): v for v in trained}
        known = set(chosen)
        holders, state = _holders()
        for holder in holders:
            held = {identity(v): v for v in _variables(holder)}
            if held.keys() & known:
                for key, variable in held.items():
                    if _is_number(variable) and key not in state:
                        chosen.setdefault(key, variable)
        return self._named(chosen.values())

    def models(
        self, shapes: Sequence[tuple[int, ...]], taken: Iterable[Any]
    ) -> list[list[tuple[str, Any]]]:
        """Weights of the models that have these shapes, but for those taken."""
        begun = {identity(variable) for variable in taken}
        found: dict[frozenset[int], list[tuple[str, Any]]] = {}
        for holder in _holders()[0]:
            held = {identity(v): v for v in _variables(holder) if _is_number(v)}
            own = sorted(tuple(unwrapped(v).shape.as_list()) for v in held.values())
            if own == shapes and not held.keys() & begun:
                found.setdefault(frozenset(held), self._named(held.values()))
        return list(found.values())

    def _named(self, variables: Iterable[Any]) -> list[tuple[str, Any]]:
        ordered = sorted(variables, key=self._place)
        return [(str(unwrapped(v).name).rsplit(":", 1)[0], v) for v in ordered]

    def _place(self, variable: Any) -> int:
        """When a variable was made; late for those that were not seen."""
        for component in components(variable):
            if id(component) in self._order:
                return self._order[id(component)]
        return len(self.created)


def read(weights: Sequence[tuple[str, Any]]) -> list[tuple[str, np.ndarray[Any, Any]]]:
    """Values of the weights; of averaged copies, their mean, as a checkpoint."""
    values = []
    for name, variable in weights:
        copies = [np.asarray(copy.read_value()) for copy in components(variable)]
        aggregated = getattr(unwrapped(variable), "aggregation", None)
        if len(copies) > 1 and aggregated == tf.VariableAggregation.MEAN:
            value = np.mean(copies, axis=0, dtype=copies[0].dtype)
        else:
            value = copies[0]
        values.append((name, np.array(value)))
    return values


def assign(weights: Sequence[tuple[str, Any]], values: Sequence[Any]) -> None:
    """Set weights to the values that there are for them."""
    for (_, variable), value in zip(weights, values, strict=True):
        if value is not None:
            for copy in components(variable):
                copy.assign(tf.cast(value, copy.dtype))


def are_initialized(weights: Sequence[tuple[str, Any]]) -> bool:
    """Whether all have a value yet; in a function's first trace some have none."""
    return all(
        bool(copy.is_initialized())
        for _, variable in weights
        for copy in components(variable)
    )


def _holders() -> tuple[list[Any], set[int]]:
    """Models, and the variables of metrics and optimizers, which are no weights."""
    wanted: tuple[type, ...] = (tf.Module, *(each.layers.Layer for each in kerases()))
    unwanted: tuple[type, ...] = ()
    for library in kerases():
        unwanted += (library.metrics.Metric, library.optimizers.Optimizer)
    holders, state = [], set[int]()
    # type() rather than isinstance(): lazy module proxies lie about their class.
    for thing in gc.get_objects():
        kind = type(thing)
        if issubclass(kind, unwanted):
            state.update(map(identity, _variables(thing)))
        elif issubclass(kind, wanted) and not issubclass(kind, tf.Variable):
            holders.append(thing)
    return holders, state


def _variables(holder: Any) -> list[Any]:
    try:
        found = getattr(holder, "weights", None)
        if found is None:
            found = getattr(holder, "variables", ())
        return [v for v in found or () if isinstance(unwrapped(v), tf.Variable)]
    except (ValueError, AttributeError, RuntimeError):
        return []  # a model that was never built has none to speak of


def _is_number(variable: Any) -> bool:
    return bool(unwrapped(variable).dtype.is_floating)
