"""Finding, reading and setting the model weights of a foreign TF2 program."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from ..matching import Weight, match_weights

__all__ = ["VariableLog", "components", "unwrapped"]


def unwrapped(variable: Any) -> Any:
    """The TensorFlow variable behind ``variable``, which may be Keras 3's."""
    if isinstance(variable, tf.Variable):
        return variable
    value = getattr(variable, "value", None)
    return value if isinstance(value, tf.Variable) else variable


def components(variable: Any) -> Sequence[Any]:
    """The copies of one variable, one for each replica."""
    return tuple(getattr(unwrapped(variable), "values", None) or (unwrapped(variable),))


def model_types() -> tuple[type, ...]:
    """Base classes of things that hold weights, of every Keras that is loaded."""
    import sys

    found: list[type] = [tf.Module]
    for name in ("keras", "tf_keras"):
        module = sys.modules.get(name)
        if module is not None:
            found.append(module.layers.Layer)
    return tuple(found)


def not_models() -> tuple[type, ...]:
    """Holders of variables that are no weights: metrics and optimizers."""
    import sys

    found: list[type] = []
    for name in ("keras", "tf_keras"):
        module = sys.modules.get(name)
        if module is not None:
            found += [module.metrics.Metric, module.optimizers.Optimizer]
    return tuple(found)


class VariableLog:
    """Every variable of the program, in order of creation."""

    def __init__(self) -> None:
        # Components, as TensorFlow makes them; containers of several replicas
        # are found again through their first component.
        self.created: list[Any] = []
        self._order: dict[int, int] = {}
        self.trained: list[Any] = []
        # Weights that are known without a model that holds them.
        self.noted: list[Any] = []
        self._kept: tuple[int, list[tuple[str, Any]]] = (0, [])

    def creator(self, next_creator: Any, **kwargs: Any) -> Any:
        """A variable creator, for :func:`tf.variable_creator_scope`."""
        variable = next_creator(**kwargs)
        self._order[id(variable)] = len(self.created)
        self.created.append(variable)
        return variable

    def place(self, variable: Any) -> int:
        """When a variable was made; late for those that were not seen."""
        for component in components(variable):
            if id(component) in self._order:
                return self._order[id(component)]
        return len(self.created)

    def note_trained(self, sources: Iterable[Any]) -> None:
        """Remember what a gradient was taken by: those are the trained weights."""
        known = {id(unwrapped(variable)) for variable in self.trained}
        for source in sources:
            variable = unwrapped(source)
            if isinstance(variable, tf.Variable) and id(variable) not in known:
                known.add(id(variable))
                self.trained.append(source)

    def note_weights(self, variables: Iterable[Any]) -> None:
        """Remember weights of a graph, whose layers nobody holds."""
        known = {id(variable) for variable in self.noted}
        self.noted += [v for v in variables if id(v) not in known]
        self._kept = (0, [])

    def weights(self) -> list[tuple[str, Any]]:
        """Names and variables of the model's weights, in order of creation.

        The trained variables are known from the gradients; the others (moving
        averages, frozen layers) belong to the models which hold a trained one.
        """
        if self._kept[0] == len(self.trained) > 0:
            return self._kept[1]
        chosen = {id(unwrapped(v)): v for v in self.trained}
        trained = set(chosen)
        for holder in _holders():
            held = _variables(holder)
            if any(id(unwrapped(variable)) in trained for variable in held):
                for variable in held:
                    if _is_number(variable):
                        chosen.setdefault(id(unwrapped(variable)), variable)
        for variable in self.noted:
            chosen.setdefault(id(unwrapped(variable)), variable)
        return self._named(chosen.values())

    def keep(self) -> None:
        """Hold on to the weights: their model may be gone when the program ends."""
        if self._kept[0] != len(self.trained):
            self._kept = len(self.trained), self.weights()

    def candidates(self, shapes: Sequence[Weight]) -> list[tuple[str, Any]] | None:
        """Weights of the one model that fits ``shapes``, before any training."""
        wanted = sorted(shape for _, shape in shapes)
        fitting: dict[frozenset[int], list[tuple[str, Any]]] = {}
        for holder in _holders():
            held = [v for v in _variables(holder) if _is_number(v)]
            if sorted(_shape(v) for v in held) == wanted:
                key = frozenset(id(unwrapped(v)) for v in held)
                fitting.setdefault(key, self._named(held))
        return next(iter(fitting.values())) if len(fitting) == 1 else None

    def _named(self, variables: Iterable[Any]) -> list[tuple[str, Any]]:
        ordered = sorted(variables, key=self.place)
        return [(_name(variable), variable) for variable in ordered]


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


def assign(
    weights: Sequence[tuple[str, Any]],
    values: Sequence[tuple[str, np.ndarray[Any, Any]]],
) -> None:
    """Set the weights of one program to those of another."""
    own = [(name, _shape(variable)) for name, variable in weights]
    given = [(name, tuple(value.shape)) for name, value in values]
    for (_, variable), index in zip(weights, match_weights(own, given), strict=True):
        for copy in components(variable):
            copy.assign(tf.cast(values[index][1], copy.dtype))


def _holders() -> list[Any]:
    wanted, unwanted = model_types(), not_models()
    # type() rather than isinstance(): lazy module proxies lie about their class.
    return [
        thing
        for thing in gc.get_objects()
        if issubclass(type(thing), wanted)
        and not issubclass(type(thing), unwanted)
        and not issubclass(type(thing), tf.Variable)
    ]


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


def _shape(variable: Any) -> tuple[int, ...]:
    return tuple(unwrapped(variable).shape.as_list())


def _name(variable: Any) -> str:
    return str(unwrapped(variable).name).rsplit(":", 1)[0]
