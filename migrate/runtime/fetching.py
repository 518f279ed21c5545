"""Fetches and feeds: what hooks and savers ask of a graph, as they ask a session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from .asked import REPLICAS
from .vocabulary import v1


class Fetches:
    """Finds out which parts of a model's graph are meant, and runs them."""

    def __init__(self, model: Any):
        self.model = model
        self.plans: dict[Any, Any] = {}
        self.reads: dict[int, Any] = {}

    def run(self, fetches: Any, feed_dict: Any = None) -> Any:
        """The values of a structure of fetches, as a session gives them."""
        found = self.values(tf.nest.flatten(fetches), feed_dict)
        return filled(fetches, iter(found))

    def values(self, flat: list[Any], feed_dict: Any = None, own: int = 0) -> list[Any]:
        """The values of single fetches; the first `own` are the loop's, no hook's."""
        fed = [
            (key if isinstance(key, tf.Tensor) else self.graph_tensor(key), value)
            for key, value in (feed_dict or {}).items()
        ]
        feeds = [tensor for tensor, _ in fed]
        call, elements = self.plan(flat, feeds)
        given = [tf.convert_to_tensor(value, tensor.dtype) for tensor, value in fed]
        early = self.read_first(elements, own) if REPLICAS else {}
        values = call(*given)[:-1]
        results = [None if value is None else value.numpy() for value in values]
        for place, value in early.items():
            results[place] = value
        return joined(elements, results) if len(results) != len(flat) else results

    def read_first(self, elements: list[Any], own: int) -> dict[int, Any]:
        """What variables are before the step, where several replicas train.

        TensorFlow 1 gave replicas variables that are copied as they are read, and read
        what hooks fetch at once; others it returned as they were at the end.
        """
        if self.model.strategy.num_replicas_in_sync == 1:
            return {}
        parts = tf.nest.flatten(elements, expand_composites=True)
        return {
            place: one.read_value().numpy()
            for place, one in enumerate(parts)
            if place >= own and isinstance(one, tf.Variable)
        }

    def plan(self, flat: list[Any], feeds: list[Any]) -> tuple[Any, list[Any]]:
        """The function for fetches that a hook asks for in every step, found once."""
        key = (
            tuple(one if isinstance(one, str) else id(one) for one in flat),
            tuple(map(id, feeds)),
        )
        if key not in self.plans:
            elements = [None if one is None else self.element(one) for one in flat]
            parts = tf.nest.flatten(elements, expand_composites=True)
            # With what is in the key, so that no other object gets its identity.
            self.plans[key] = self.model.call(parts, feeds), elements, flat
        call, elements, _ = self.plans[key]
        return call, elements

    def graph_tensor(self, key: Any) -> Any:
        """The tensor that a key of a feed means."""
        if isinstance(key, (str, bytes)):
            return self.model.graph.as_graph_element(key)
        return getattr(key, "_graph_element", key)

    def element(self, fetch: Any) -> Any:
        """The variable, tensor or operation that a fetch stands for."""
        if isinstance(fetch, tf.Variable):
            # What `assign` returns is the variable after that, and fetched so.
            assigned = getattr(fetch, "_parent_op", None) is not None
            return self.assigned_value(fetch) if assigned else fetch
        if not isinstance(fetch, (tf.Tensor, tf.Operation)):
            if tf.is_tensor(fetch) and not hasattr(fetch, "read_value"):
                return fetch  # Made of several tensors.
            if not isinstance(fetch, (str, bytes)) and hasattr(fetch, "_graph_element"):
                return self.variable_read_by(fetch._graph_element)
            name = fetch if isinstance(fetch, (str, bytes)) else fetch.name
            fetch = self.model.graph.as_graph_element(name)
        if isinstance(fetch, tf.Tensor):
            return self.variable_read_by(fetch)
        return fetch

    def assigned_value(self, assigned: Any) -> Any:
        """A tensor that is read after an assignment of the graph."""
        if id(assigned) not in self.reads:
            with self.model.inside():
                self.reads[id(assigned)] = assigned.read_value(), assigned
        return self.reads[id(assigned)][0]

    def variable_read_by(self, tensor: Any) -> Any:
        """The variable that a tensor is nothing but a reading of, or the tensor.

        A session of TensorFlow 1 returned such a reading as the variable was at the
        end of the step, because it did not copy it: hooks that fetch the global step
        rely on that.
        """
        source = tensor
        while source.op.type == "Identity" and not source.op.control_inputs:
            source = source.op.inputs[0]
        if source.op.type != "ReadVariableOp" or source.op.control_inputs:
            return tensor
        found = [
            v for v, handle in self.model.components if handle is source.op.inputs[0]
        ]
        return found[0] if found else tensor


def filled(structure: Any, values: Iterator[Any]) -> Any:
    """A structure with the next values in the place of its elements.

    As `tf.nest.pack_sequence_as`, which takes as long as a small step.
    """
    if type(structure) is list:
        return [filled(one, values) for one in structure]
    if type(structure) is dict and structure:
        found = {name: filled(structure[name], values) for name in sorted(structure)}
        return {name: found[name] for name in structure}
    if structure is None or isinstance(structure, (tf.Tensor, tf.Operation, str)):
        return next(values)
    count = len(tf.nest.flatten(structure))
    return tf.nest.pack_sequence_as(structure, [next(values) for _ in range(count)])


def joined(elements: list[Any], results: list[Any]) -> list[Any]:
    """The values of elements, of which some are made of several tensors."""
    parts = iter(results)
    values = []
    for element in elements:
        own = [next(parts) for _ in tf.nest.flatten(element, expand_composites=True)]
        if isinstance(element, tf.SparseTensor):
            values.append(v1.SparseTensorValue(*own))
        else:
            values.append(own[0] if len(own) == 1 else own)
    return values
