"""A model function's graph: traced once, run in parts, its variables eager."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from .late_reads import count_after_reads, read_late
from .layer_updates import show_layer_updates
from .session import ModelSession
from .variables import ModelVariables
from .vocabulary import v1

READ_OP_COLLECTION = "global_step_read_op_cache"


class ModelGraph:
    """What `build` makes in a graph, and functions cut out of it.

    Variables live outside. Everything else is inside, the iterator over the data
    included: each call of a function that needs a batch takes the next one.
    """

    def __init__(
        self,
        build: Callable[[], None],
        checkpoint: str | None = None,
        seed: int | None = None,
        strategy: tf.distribute.Strategy | None = None,
        variables: Any = None,
    ):
        self.graph: Any = None
        self.strategy = strategy or tf.distribute.get_strategy()
        self.variables = (variables or ModelVariables)(checkpoint, self.strategy)
        self.session = ModelSession(self)
        self.calls: dict[Any, Any] = {}
        self.plans: dict[Any, Any] = {}
        self.reads: dict[int, Any] = {}
        if seed is not None:
            tf.random.set_seed(seed)

        def traced() -> None:
            self.graph = self.variables.graph = v1.get_default_graph()
            # tf_keras takes a graph that is named as this one was for a whole program
            # of TensorFlow 1.
            self.graph.name = "model_fn"
            self.graph.seed = seed
            show_layer_updates(self.graph)
            with (
                self.variables.made_here(),
                tensors_by_identity(),
                warnings.catch_warnings(),
            ):
                # Summaries of TensorFlow 1 are fetched with the step that they are of.
                warnings.filterwarnings("ignore", ".*default summary writer.*")
                build()
            self.components = self.components_and_handles()
            read_late(self.graph, [handle for _, handle in self.components])
            step = self.variables.by_name.get("global_step")
            if step is not None:
                for one in self.strategy.experimental_local_results(step):
                    count_after_reads(self.graph.capture(one.handle))

        # Keras makes its variables outside of the graph: they are met there too.
        with self.strategy.scope(), self.variables.made_here():
            self.function = v1.wrap_function(traced, [])

    def components_and_handles(self) -> list[tuple[Any, Any]]:
        """The variables of each replica, with what stands for them in the graph."""
        return [
            (component, self.graph.capture(component.handle))
            for variable in (*self.variables.by_name.values(), *self.variables.local)
            for component in self.strategy.experimental_local_results(variable)
        ]

    @property
    def global_step(self) -> Any:
        """The number of updates so far, as the model counts them."""
        return self.variables.by_name["global_step"]

    # -- which part of the graph a fetch means

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
            fetch = self.graph.as_graph_element(name)
        if isinstance(fetch, tf.Tensor):
            return self.variable_read_by(fetch)
        return fetch

    def assigned_value(self, assigned: Any) -> Any:
        """A tensor that is read after an assignment of the graph."""
        if id(assigned) not in self.reads:
            with self.inside():
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
        found = [v for v, handle in self.components if handle is source.op.inputs[0]]
        return found[0] if found else tensor

    # -- functions

    def call(self, fetches: list[Any], feeds: list[Any]) -> Callable[..., Any]:
        """A function that computes elements of the graph from values for `feeds`.

        It returns the values of all but operations; variables are read at its end.
        """
        key = tuple(map(id, fetches)), tuple(map(id, feeds))
        if key not in self.calls:
            # With what is in the key, so that no other object gets its identity.
            self.calls[key] = self.cut(fetches, feeds), (fetches, feeds)
        called: Callable[..., Any] = self.calls[key][0]
        return called

    def cut(self, fetches: list[Any], feeds: list[Any]) -> Callable[..., Any]:
        """Makes such a function; its last value says that all is done."""
        # A function is over when its outputs are there, and what it updates may not be:
        # the operations have to be outputs as well, and one that is used.
        fed = set(map(id, feeds))
        ends = {
            one.op if isinstance(one, tf.Tensor) else one: None
            for one in fetches
            if isinstance(one, (tf.Tensor, tf.Operation)) and id(one) not in fed
        }
        outputs: list[Any] = []
        places: dict[int, int] = {}
        with self.graph.as_default(), tf.control_dependencies(list(ends)):
            for one in fetches:
                if isinstance(one, (tf.Tensor, tf.Variable)) and id(one) not in places:
                    places[id(one)] = len(outputs)
                    outputs.append(
                        one if tf.is_symbolic_tensor(one) else one.read_value()
                    )
            with tf.control_dependencies(outputs):
                finished = tf.identity(tf.constant(True))
        pruned = self.function.prune(feeds, [*outputs, finished, *ends])
        order = [places.get(id(one)) for one in fetches]

        def computed(*values: Any) -> Any:
            results = pruned(*values)
            found = [None if place is None else results[place] for place in order]
            return [*found, results[len(outputs)]]

        return computed

    def run(self, fetches: Any, feed_dict: Any = None) -> Any:
        """The values of a structure of fetches, as a session gives them."""
        found = self.values(tf.nest.flatten(fetches), feed_dict)
        return filled(fetches, iter(found))

    def values(self, flat: list[Any], feed_dict: Any = None) -> list[Any]:
        """The values of single fetches."""
        fed = [
            (key if isinstance(key, tf.Tensor) else self.graph_tensor(key), value)
            for key, value in (feed_dict or {}).items()
        ]
        feeds = [tensor for tensor, _ in fed]
        call, elements = self.plan(flat, feeds)
        given = [tf.convert_to_tensor(value, tensor.dtype) for tensor, value in fed]
        values = call(*given)[:-1]
        results = [None if value is None else value.numpy() for value in values]
        return joined(elements, results) if len(results) != len(flat) else results

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
            self.plans[key] = self.call(parts, feeds), elements, flat
        call, elements, _ = self.plans[key]
        return call, elements

    def graph_tensor(self, key: Any) -> Any:
        """The tensor that a key of a feed means."""
        if isinstance(key, (str, bytes)):
            return self.graph.as_graph_element(key)
        return getattr(key, "_graph_element", key)

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """The graph as the default one, for code that looks for it there."""
        # Not as the method of this kind of graph, which makes it one to trace into.
        with tensors_by_identity(), tf.Graph.as_default(self.graph):
            yield


@contextlib.contextmanager
def tensors_by_identity() -> Iterator[None]:
    """Within it tensors and variables are equal to themselves only, and hashable.

    Code that was written for graphs uses them as keys. There is no public name for
    how it is now.
    """
    by_value = getattr(tf.Tensor, "_USE_EQUALITY", True)
    v1.disable_tensor_equality()
    try:
        yield
    finally:
        if by_value:
            v1.enable_tensor_equality()


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
