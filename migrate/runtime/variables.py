"""Variables of a kept model function: eager, and named as TensorFlow 1 named them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any

import tensorflow as tf

from .asked import CLASS_NAMES, CLUSTERS, RECURRENT, REPLICAS
from .class_names import with_classes_of_tensorflow_1
from .vocabulary import v1

RECURRENT_CELL = re.compile(
    r"(/stacked_rnn_cells(_\d+)?)?/(lstm|gru|simple_rnn)_cell(_\d+)?/"
)

# `scope/beta1_power`, where the last scope may stand twice.
POWERS = re.compile(r"((?:[^/]+/)*?)([^/]+/)(\2)?(beta[12]_power)")


def name_in_tensorflow_1(name: str) -> str:
    """The name of a Keras weight without the cell of its recurrent layer.

    Before TensorFlow 2 such layers had their weights themselves.
    """
    return RECURRENT_CELL.sub("/", name)


def number_name(name: str, taken: Container[str]) -> str:
    """The name, with a number where it is taken."""
    numbered, number = name, 1
    while numbered in taken:
        numbered, number = f"{name}_{number}", number + 1
    return numbered


class ModelVariables:
    """The variables that a model function makes while it is traced.

    Each is made outside of the graph, where it outlives it; its initial value is that
    of the checkpoint where the checkpoint has it.
    """

    def __init__(
        self,
        checkpoint: str | None,
        strategy: Any = None,
    ):
        self.reader: Any = None
        self.saved: dict[str, Any] = {}
        if checkpoint:
            self.reader = tf.train.load_checkpoint(checkpoint)
            self.saved = self.reader.get_variable_to_shape_map()
        if REPLICAS:
            self.strategy = strategy
        self.by_name: dict[str, Any] = {}
        self.local: list[Any] = []
        self.graph: Any = None
        self.making = False
        self.names: set[str] = set()

    @contextlib.contextmanager
    def made_here(self) -> Iterator[None]:
        """Within it, variables are made by `make`."""
        with v1.variable_creator_scope(self.make):
            yield

    def make(self, next_creator: Callable[..., Any], **kwargs: Any) -> Any:
        """Makes a variable and what stands for it in the graph."""
        if self.making:
            return next_creator(**kwargs)
        collections = kwargs.pop("collections", None)
        collections = ["variables"] if collections is None else list(collections)
        name = self.unused_name(kwargs.get("name") or "Variable")
        saved = self.name_in_checkpoint(name) if REPLICAS else name
        if "variables" in collections and saved in self.saved:
            value = self.reader.get_tensor(saved)
            if REPLICAS:
                value = self.share_of_saved(value, kwargs)
            kwargs["dtype"] = value.dtype
        else:
            value = self.initial_value(kwargs["initial_value"])
        # The slash keeps the name as it is; a cache of a device has no place here.
        kwargs |= {"initial_value": value, "name": f"{name}/", "caching_device": None}
        trained = self.graph.get_collection(v1.GraphKeys.TRAINABLE_VARIABLES)
        self.making = True
        try:
            if CLUSTERS:
                variable = self.created(next_creator, name, **kwargs)
            else:
                variable = next_creator(collections=["made"], **kwargs)
        finally:
            self.making = False
        # It is registered below, once, as the graph's own.
        self.graph.get_collection_ref(v1.GraphKeys.TRAINABLE_VARIABLES)[:] = trained
        self.register(variable, name, value, collections)
        return variable

    if CLUSTERS:

        def created(self, create: Any, plain: str, /, **kwargs: Any) -> Any:
            """A variable, wherever it is."""
            del plain
            return create(collections=["made"], **kwargs)

    def register(
        self, variable: Any, name: str, value: Any, collections: list[str]
    ) -> None:
        """Notes a variable, and shows it in the graph."""
        if "variables" in collections:
            self.by_name[name] = variable
        else:
            self.local.append(variable)
        self.show_in_graph(variable, name, value)
        if variable.trainable:
            collections = [*collections, v1.GraphKeys.TRAINABLE_VARIABLES]
        for collection in dict.fromkeys(collections):
            self.graph.add_to_collection(collection, variable)

    def unused_name(self, wanted: str) -> str:
        """The name of a variable, numbered when it is taken."""
        with v1.name_scope(wanted) as scope:
            name = str(scope).rstrip("/")
        if RECURRENT:
            # Keras names a weight within its layer; cells of other kinds, which have
            # such names in TensorFlow 1 as well, bring the whole name along.
            within = f"{tf.get_current_name_scope()}/"
            if name not in self.saved and name.startswith(within):
                name = name_in_tensorflow_1(within) + name.removeprefix(within)
        if CLASS_NAMES and name not in self.saved:
            name = with_classes_of_tensorflow_1(name)
        name = number_name(name, self.names)
        self.names.add(name)
        return name

    if REPLICAS:

        def name_in_checkpoint(self, name: str) -> str:
            """The name that the checkpoint has, if it is of several replicas.

            With them TensorFlow 1 named the powers of Adam by the innermost scope
            twice, so that one replica, or an evaluation, did not find them.
            """
            powers = POWERS.fullmatch(name)
            if powers is None or name in self.saved:
                return name
            outer, scope, again, power = powers.groups(default="")
            return f"{outer}{scope}{'' if again else scope}{power}"

        def share_of_saved(self, value: Any, kwargs: Mapping[str, Any]) -> Any:
            """What each replica takes of a saved value: one that is a sum, in parts."""
            is_sum = kwargs.get("aggregation") == tf.VariableAggregation.SUM
            on_read = tf.VariableSynchronization.ON_READ
            if is_sum and kwargs.get("synchronization") == on_read:
                return (value / self.strategy.num_replicas_in_sync).astype(value.dtype)
            return value

    def initial_value(self, value: Any) -> Any:
        """An initial value, computed outside of the graph."""
        if callable(value):
            try:
                with tf.init_scope():
                    return value()
            except (TypeError, ValueError, tf.errors.InvalidArgumentError):
                value = value()  # It uses tensors of the graph.
        if not tf.is_symbolic_tensor(value):
            return value
        return computed_once(value)

    def show_in_graph(self, variable: Any, name: str, value: Any) -> None:
        """Puts a reading of the variable into the graph, under the variable's name."""
        # Hooks ask for `global_step:0`, savers and old code for `variable.op.name`.
        parts = (variable,)
        if REPLICAS:
            parts = self.strategy.experimental_local_results(variable)
        with self.graph.as_default(), tf.control_dependencies(None):
            for number, part in enumerate(parts):
                own_name = f"{name}/replica_{number}" if number else name
                with contextlib.suppress(KeyError):  # The data has one of that name.
                    self.graph.get_operation_by_name(own_name)
                    own_name = self.graph.unique_name(own_name)
                with self.graph.name_scope(None):
                    free = self.graph.unique_name(own_name, mark_as_used=False)
                    if free == own_name:  # It was named in the graph of a loop's body.
                        self.graph.unique_name(own_name)
                reading = tf.raw_ops.ReadVariableOp(
                    resource=part.handle, dtype=variable.dtype, name=f"{own_name}/"
                )
                reading.set_shape(variable.shape)
                graph_variable_of(part, reading)
            if name not in self.by_name and parts[0] is variable:
                # Local variables are set anew by `local_variables_initializer`.
                variable._initializer_op = variable.assign(value, read_value=False)


def graph_variable_of(variable: Any, reading: Any) -> None:
    """Gives an eager variable the members that code of TensorFlow 1 asks for."""
    members = {
        "op": property(lambda self: self._graph_element.op),
        "initialized_value": lambda self: self.read_value(),
    }
    variable.__class__ = type("Variable", (type(variable),), members)
    variable._graph_element = reading


def computed_once(tensor: Any) -> Any:
    """The value of a tensor of a graph that is still being traced."""
    traced = tensor.graph
    definition = traced.as_graph_def()
    for node in definition.node:  # It waits for nothing.
        inputs = [name for name in node.input if not name.startswith("^")]
        node.ClearField("input")
        node.input.extend(inputs)
    definition = v1.graph_util.extract_sub_graph(definition, [tensor.op.name])
    needed = {node.name for node in definition.node}
    captured = {
        inner.name: outer for outer, inner in traced.captures if inner.op.name in needed
    }

    def compute() -> Any:
        graph = v1.get_default_graph()
        given = {name: graph.capture(outer) for name, outer in captured.items()}
        return tf.graph_util.import_graph_def(
            definition, input_map=given, return_elements=[tensor.name], name=""
        )

    with tf.init_scope():
        return v1.wrap_function(compute, [])()[0]
