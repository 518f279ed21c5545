"""A model function's graph: traced once, run in parts, its variables eager."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from .asked import ASSIGNED, CLUSTERS, HOOKS, LAYER_UPDATES, ORDERED, REPLICAS
from .fetching import joined
from .late_reads import count_after_reads, read_late, update_after_readings
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
        if REPLICAS:
            self.strategy = strategy or tf.distribute.get_strategy()
        if CLUSTERS and variables is not None:
            self.variables = variables(checkpoint, strategy=self.strategy)
        else:
            self.variables = ModelVariables(
                checkpoint, strategy=self.strategy if REPLICAS else None
            )
        if HOOKS:
            self.session = ModelSession(self)
        self.calls: dict[Any, Any] = {}
        if seed is not None:
            tf.random.set_seed(seed)

        def traced() -> None:
            self.graph = self.variables.graph = v1.get_default_graph()
            # tf_keras takes a graph that is named as this one was for a whole program
            # of TensorFlow 1.
            self.graph.name = "model_fn"
            self.graph.seed = seed
            if LAYER_UPDATES:
                show_layer_updates(self.graph)
            with (
                self.variables.made_here(),
                tensors_by_identity(),
                warnings.catch_warnings(),
            ):
                # Summaries of TensorFlow 1 are fetched with the step that they are of.
                warnings.filterwarnings("ignore", ".*default summary writer.*")
                build()
            if ORDERED or HOOKS:
                self.components = self.components_and_handles()
            # Under a strategy TensorFlow 1, too, copied variables when it read them.
            if ORDERED and (not REPLICAS or strategy is None):
                read_late(self.graph, [handle for _, handle in self.components])
            if ASSIGNED and "global_step" in self.variables.by_name:
                for one in self.components_of(self.global_step):
                    count_after_reads(self.graph.capture(one.handle))

        # Keras makes its variables outside of the graph: they are met there too.
        with (
            self.strategy.scope() if REPLICAS else contextlib.nullcontext(),
            self.variables.made_here(),
        ):
            self.function = v1.wrap_function(traced, [])

    def components_and_handles(self) -> list[tuple[Any, Any]]:
        """The variables of each replica, with what stands for them in the graph."""
        return [
            (component, self.graph.capture(component.handle))
            for variable in (*self.variables.by_name.values(), *self.variables.local)
            for component in self.components_of(variable)
        ]

    def components_of(self, variable: Any) -> tuple[Any, ...]:
        """A variable as each replica has it."""
        if REPLICAS:
            return tuple(self.strategy.experimental_local_results(variable))
        return (variable,)

    @property
    def global_step(self) -> Any:
        """The number of updates so far, as the model counts them."""
        return self.variables.by_name["global_step"]

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
        unfed = [
            one
            for one in fetches
            if isinstance(one, (tf.Tensor, tf.Operation)) and id(one) not in fed
        ]
        if ASSIGNED or HOOKS:
            handles = [handle for _, handle in self.components]
            update_after_readings(unfed, handles)
        ends = {one.op if isinstance(one, tf.Tensor) else one: None for one in unfed}
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

    def values(self, fetches: list[Any]) -> list[Any]:
        """The values of tensors and variables; None for operations."""
        found = self.call(fetches, [])()[:-1]
        return [None if value is None else value.numpy() for value in found]

    def run(self, fetches: Any) -> Any:
        """The values of a structure of tensors, variables and operations."""
        flat = tf.nest.flatten(fetches)
        values = self.values(tf.nest.flatten(flat, expand_composites=True))
        return tf.nest.pack_sequence_as(fetches, joined(flat, values))

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


def global_step_in_graph() -> Any:
    """The number of updates so far, made in the graph being traced."""
    step = v1.train.get_or_create_global_step()
    if HOOKS:
        # Where hooks of TensorFlow look for it: as it was before the step.
        v1.add_to_collection(READ_OP_COLLECTION, step + 0)
    return step
