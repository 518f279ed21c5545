"""Keras classes whose layers are named by the variable scopes that call them."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import tensorflow as tf
import tf_keras

from .asked import OWN_WEIGHTS, PARTITIONS
from .keras_model import KerasLayer, KerasModel
from .partitions import only_part
from .vocabulary import v1

PLACES = "layers_by_place"
# What TensorFlow 1 called layers that are called otherwise here.
NAMES_IN_TENSORFLOW_1 = {"columns_layer": "input_layer"}


class ScopedLayer(KerasLayer):
    """A layer made of layers, for code that names its variables by scopes.

    Each layer takes the variable scope in which it is first called. One that has no
    name is counted there, as TensorFlow 1 did; two of one place share their variables.
    """

    def __init__(self, **kwargs: Any):
        # The code within takes its inputs as they are.
        super().__init__(**{"autocast": False, **kwargs})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The layers' work; their names are found while it is done."""
        take_scopes(self)
        if not args and not kwargs:
            # Variables alone: Keras knows of no layer without an input.
            return self.call()
        if is_of_python(*args, **kwargs):
            # Keras would make tensors of them.
            return self.call(*args, **kwargs)
        return super().__call__(*args, **kwargs)

    def _set_mask_metadata(self, inputs: Any, outputs: Any, *rest: Any) -> None:
        if can_be_sorted(outputs):
            super()._set_mask_metadata(inputs, outputs, *rest)

    if OWN_WEIGHTS:

        def get_variable(self, *args: Any, **kwargs: Any) -> Any:
            """A weight that is made, and named, as `tf.get_variable` made it."""
            variable = v1.get_variable(*args, **kwargs)
            keep(self, variable)
            return variable

        def new_variable(self, *args: Any, **kwargs: Any) -> Any:
            """A weight of its own, as `tf.Variable` made one."""
            variable = v1.Variable(*args, **kwargs)
            keep(self, variable)
            return variable

        def make_input_layer(self, *args: Any, **kwargs: Any) -> Any:
            """Columns as one tensor; their embeddings are weights."""
            return with_weights(self, v1.feature_column.input_layer, args, kwargs)

        def keep_weights(self, function: Any, *args: Any, **kwargs: Any) -> Any:
            """What a function or a cell gives; its variables are weights here."""
            return with_weights(self, function, args, kwargs)

        def make_linear_model(self, *args: Any, **kwargs: Any) -> Any:
            """A weighted sum of columns, as `tf.feature_column` made it."""
            return with_weights(self, v1.feature_column.linear_model, args, kwargs)


class ScopedModel(KerasModel):
    """The layers of a model function: see `ScopedLayer` for the variables' names."""

    def __init__(self, **kwargs: Any):
        super().__init__(**{"autocast": False, **kwargs})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The forward pass."""
        take_scopes(self)
        if (not args and not kwargs) or is_of_python(*args, **kwargs):
            outputs = self.call(*args, **kwargs)
            self.collect_losses()
            return outputs
        return super().__call__(*args, **kwargs)

    def _set_mask_metadata(self, inputs: Any, outputs: Any, *rest: Any) -> None:
        if can_be_sorted(outputs):
            super()._set_mask_metadata(inputs, outputs, *rest)

    def _set_output_attrs(self, outputs: Any) -> None:
        if can_be_sorted(outputs):
            super()._set_output_attrs(outputs)

    if OWN_WEIGHTS:
        get_variable = ScopedLayer.get_variable
        new_variable = ScopedLayer.new_variable
        make_input_layer = ScopedLayer.make_input_layer
        make_linear_model = ScopedLayer.make_linear_model
        keep_weights = ScopedLayer.keep_weights


class FunctionLayer(KerasLayer):
    """A layer for a function of TensorFlow 1 that makes its variables itself.

    It gets its inputs first, then what the layer was made with. An `arg_scope` around
    the call means what it meant.
    """

    def __init__(self, function: Any, *args: Any, **kwargs: Any):
        super().__init__(autocast=False)

        def work(*inputs: Any, **late: Any) -> Any:
            return function(*inputs, *args, **kwargs, **late)

        self.work = work

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function's result; its variables are the layer's weights."""
        return with_weights(self, self.work, args, kwargs)


def is_of_python(*args: Any, **kwargs: Any) -> bool:
    """A layer's input has numbers of Python: sizes, a flag; or Keras cannot sort it."""
    if not can_be_sorted((args, kwargs)):
        return True
    inputs = args[0] if args else next(iter(kwargs.values()))
    return any(isinstance(one, (int, float)) for one in tf.nest.flatten(inputs))


def can_be_sorted(structure: Any) -> bool:
    """Keras can flatten it: a dictionary's keys have an order, as an Enum's do not."""
    try:
        tf.nest.flatten(structure)
    except TypeError:
        return False
    return True


def keep(layer: Any, variable: Any) -> None:
    """Makes a variable a weight of the layer that asked for it."""
    name = re.sub(r"\W", "_", variable.name.partition(":")[0])
    setattr(layer, f"weight_{name}", variable)


def with_weights(layer: Any, function: Any, args: Any, kwargs: Any) -> Any:
    """What a function of TensorFlow 1 gives; its new variables are the layer's."""
    known = {id(variable) for variable in v1.global_variables()}
    result = function(*args, **kwargs)
    for variable in v1.global_variables():
        if id(variable) not in known:
            keep(layer, variable)
    return result


class ColumnsLayer(tf_keras.layers.DenseFeatures):
    """Feature columns as one tensor, as `tf.feature_column.input_layer` made it."""


def named(layer: Any) -> Any:
    """Says that the name of a layer was chosen, though it looks as if counted."""
    layer.is_named = True
    return layer


def take_scopes(layer: Any) -> None:
    """Lets what a layer is made of find its names."""
    for part in layer._flatten_layers(recursive=False, include_self=False):
        take_scope(part)


def take_scope(layer: Any) -> None:
    """Lets a layer find its name where it is first called."""
    if isinstance(layer, (KerasLayer, KerasModel)) or "_name_scope" in vars(layer):
        return
    place: list[Place] = []
    if not isinstance(layer, ColumnsLayer):
        # As in TensorFlow 1, variables are of the kind of the first input.
        layer._set_dtype_policy(tf_keras.mixed_precision.Policy("_infer"))

    def name_scope() -> str:
        if not place:
            place.append(place_in_scopes(layer))
            share_variables(layer, place[0].scope.name)
        return f"{place[0].scope.name}/"

    # Keras has no public way to name the variables of a layer from outside.
    layer._name_scope = name_scope
    if isinstance(layer, ColumnsLayer):
        return
    add_weight = layer.add_weight

    def add_weight_in_place(name: str, **kwargs: Any) -> Any:
        return weight_in_place(add_weight, place[0], name, **kwargs)

    layer.add_weight = add_weight_in_place


class Place(NamedTuple):
    """Where a layer stands: the scope of its variables, in a graph."""

    graph: Any
    scope: Any


def weight_in_place(
    add_weight: Any,
    place: Place,
    name: str,
    initializer: Any = None,
    regularizer: Any = None,
    **kwargs: Any,
) -> Any:
    """A weight of a layer, from where TensorFlow 1 keeps variables by their names.

    So a scope may say how it begins, and regularize it; a checkpoint finds it.
    """

    def from_scope(
        *, shape: Any, dtype: Any, initializer: Any, trainable: Any, **more: Any
    ) -> Any:
        known = ("constraint", "synchronization", "aggregation")
        with place.graph.as_default(), in_scope():
            return v1.get_variable(
                name,
                shape,
                dtype,
                initializer=None if left_to_scope else initializer,
                trainable=trainable,
                **{one: more[one] for one in known if one in more},
            )

    if PARTITIONS:

        def as_one(**kwargs: Any) -> Any:
            return only_part(from_scope(**kwargs))

    def in_scope() -> Any:
        return v1.variable_scope(
            place.scope, reuse=v1.AUTO_REUSE, auxiliary_name_scope=False
        )

    left_to_scope = initializer is None
    with place.graph.as_default():
        names = {variable.name for variable in v1.global_variables()}
    if f"{place.scope.name}/{name}:0" in names:
        # It is regularized where it was made.
        regularizer = None
    return add_weight(
        name,
        initializer=initializer,
        regularizer=regularizer,
        getter=as_one if PARTITIONS else from_scope,
        **kwargs,
    )


def place_in_scopes(layer: Any) -> Place:
    """The place of a layer in the current scope; a number is counted there."""
    kind = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", type(layer).__name__)
    kind = re.sub(r"([a-z])([A-Z])", r"\1_\2", kind).lower()
    counted = re.fullmatch(rf"{kind}(_\d+)?", layer.name)
    name = layer.name
    if counted and not hasattr(layer, "is_named"):
        name = None
    default = NAMES_IN_TENSORFLOW_1.get(kind, kind)
    with v1.variable_scope(name, default, auxiliary_name_scope=False) as scope:
        return Place(v1.get_default_graph(), scope)


def share_variables(layer: Any, place: str) -> None:
    """Lets a layer work with the variables that its place has already."""
    places = v1.get_collection_ref(PLACES)
    for known, first in places:
        if known == place and type(first) is type(layer):
            layer.call, layer.built = first.call, True
            return
    places.append((place, layer))
