"""Feature columns as layers: dense input and linear model.

TensorFlow still ships the columns, but no longer the layers that turned them
into variables with TF 1 names; Keras 3 dropped them. The columns talk to a
state manager, so this module provides one that uses ``tf.get_variable``: scopes,
partitioners, reuse and strategies work as in TF 1.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

import tensorflow as tf2
import tensorflow.compat.v1 as tf

__all__ = [
    "ColumnState",
    "LinearParts",
    "are_all_new",
    "check_features",
    "dense_input",
    "is_categorical",
    "legacy_dense_input",
    "linear_model",
    "recorded_inputs",
    "sequence_input",
    "sorted_columns",
]

_columns = tf2.__internal__.feature_column

# (features, columns, tensor of each column) of the input layers that are built.
InputLayers = list[tuple[dict[str, Any], Sequence[Any], dict[Any, Any]]]
_recorded: ContextVar[InputLayers | None] = ContextVar("recorded", default=None)


@contextlib.contextmanager
def recorded_inputs() -> Iterator[InputLayers]:
    """Lists the input layers that are built meanwhile."""
    found: InputLayers = []
    token = _recorded.set(found)
    try:
        yield found
    finally:
        _recorded.reset(token)


def legacy_dense_input(features: dict[str, Any], columns: Any) -> tuple[Any, list[Any]]:
    """The same as `dense_input` for columns of the older protocol."""
    by_column: dict[Any, Any] = {}
    outputs: dict[Any, Any] = {}
    layer = tf.feature_column.input_layer(
        features, columns, cols_to_vars=by_column, cols_to_output_tensors=outputs
    )
    _record(features, columns, outputs)
    return layer, [variable for found in by_column.values() for variable in found]


def _record(
    features: dict[str, Any], columns: Sequence[Any], outputs: dict[Any, Any]
) -> None:
    layers = _recorded.get()
    if layers is not None:
        layers.append((features, columns, outputs))


def check_features(features: Any) -> None:
    """Canned models take features as a dict."""
    if not isinstance(features, dict):
        raise ValueError(
            f"features should be a dictionary of `Tensor`s. Given type: "
            f"{type(features)}"
        )


def are_all_new(columns: Iterable[Any]) -> bool:
    """Whether every column follows the protocol with state managers.

    ``tf.feature_column.shared_embedding_columns`` still makes the older kind.
    """
    return all(
        isinstance(column, _columns.FeatureColumn) and column._is_v2_column
        for column in columns
    )


def is_categorical(column: Any) -> bool:
    """Whether a linear model looks weights up by id for this column."""
    return hasattr(column, "num_buckets") and hasattr(column, "get_sparse_tensors")


def sorted_columns(columns: Any) -> list[Any]:
    """Columns in the order in which models have always used them: by name."""
    if isinstance(columns, _columns.FeatureColumn):
        columns = [columns]
    if isinstance(columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    found = list(columns)
    if not found:
        raise ValueError("feature_columns must not be empty.")
    by_name: dict[str, Any] = {}
    for column in found:
        if not isinstance(column, _columns.FeatureColumn):
            raise ValueError(
                "Items of feature_columns must be a FeatureColumn. Given (type "
                f"{type(column)}): {column}."
            )
        if column.name in by_name:
            raise ValueError(
                "Duplicate feature column name found for columns: "
                f"{column} and {by_name[column.name]}. This usually means that these "
                "columns refer to same base feature. Either one must be discarded or "
                "a duplicated but renamed item must be inserted in features dict."
            )
        by_name[column.name] = column
    return [by_name[name] for name in sorted(by_name)]


def _scope_name(column: Any) -> str:
    """The name of a column with what a variable scope cannot hold replaced."""
    return re.sub(r"[^A-Za-z0-9_.\-]", "_", column.name)


class ColumnState(_columns.StateManager):  # type: ignore[name-defined]
    """Variables and tables of columns; what TensorFlow calls a state manager.

    TensorFlow's own keeps them in a layer; nothing of it is used here.
    """

    def __init__(self) -> None:
        self._variables: dict[Any, dict[str, Any]] = {}
        self._resources: dict[Any, dict[str, Any]] = {}

    @property
    def variables(self) -> list[Any]:
        """All variables, in creation order."""
        return [v for named in self._variables.values() for v in named.values()]

    def create_variable(
        self,
        feature_column: Any,
        name: str,
        shape: Any,
        dtype: Any = None,
        trainable: bool = True,
        use_resource: bool = True,
        initializer: Any = None,
    ) -> Any:
        """A variable in the current variable scope."""
        named = self._variables.setdefault(feature_column, {})
        if name in named:
            raise ValueError("Variable already exists.")
        named[name] = tf.get_variable(
            name,
            shape=shape,
            dtype=dtype or tf.float32,
            initializer=initializer,
            trainable=trainable,
            use_resource=use_resource,
        )
        return named[name]

    def get_variable(self, feature_column: Any, name: str) -> Any:
        """A variable that was created before."""
        try:
            return self._variables[feature_column][name]
        except KeyError:
            raise ValueError("Variable does not exist.") from None

    def add_resource(self, feature_column: Any, name: str, resource: Any) -> None:
        """Keeps a lookup table of a column."""
        self._resources.setdefault(feature_column, {})[name] = resource

    def has_resource(self, feature_column: Any, name: str) -> bool:
        """Whether a column has a table of this name."""
        return name in self._resources.get(feature_column, {})

    def get_resource(self, feature_column: Any, name: str) -> Any:
        """A table that was added before."""
        try:
            return self._resources[feature_column][name]
        except KeyError:
            raise ValueError("Resource does not exist.") from None


def _shared_weights(columns: Sequence[Any]) -> list[Any]:
    """Variables that belong to shared embeddings rather than to a state."""
    creators = {
        id(creator): creator
        for column in columns
        if (creator := getattr(column, "shared_embedding_column_creator", None))
    }
    return [creator.embedding_weights for creator in creators.values()]


def dense_input(
    features: dict[str, Any], columns: Any, *, scope: str = "input_layer"
) -> tuple[Any, list[Any]]:
    """[batch, total width] of all dense columns, and the trained variables."""
    ordered = sorted_columns(columns)
    for column in ordered:
        if not isinstance(column, _columns.DenseColumn):
            raise ValueError(
                "Items of feature_columns must be a DenseColumn. You can wrap a "
                "categorical column with an embedding_column or indicator_column. "
                f"Given: {column}"
            )
    state = ColumnState()
    with tf.variable_scope(scope):
        for column in ordered:
            with tf.variable_scope(_scope_name(column)):
                column.create_state(state)
        cache = _columns.FeatureTransformationCache(features)
        parts = []
        for column in ordered:
            with tf.name_scope(_scope_name(column)):
                tensor = column.get_dense_tensor(cache, state)
                width = column.variable_shape.num_elements()
                parts.append(tf.reshape(tensor, [tf.shape(tensor)[0], width]))
        _record(features, ordered, dict(zip(ordered, parts, strict=True)))
        return tf.concat(parts, axis=-1), state.variables + _shared_weights(ordered)


class OlderFeatures:
    """Features, and what columns of the older protocol make of them, once each."""

    def __init__(self, features: dict[str, Any]) -> None:
        self.features = features
        self.made: dict[Any, Any] = {}

    def get(self, key: Any) -> Any:
        """A feature by its name, or what a column makes of its own."""
        if key not in self.made:
            if isinstance(key, str):
                self.made[key] = _with_an_axis(self.features[key])
            else:
                self.made[key] = key._transform_feature(self)
        return self.made[key]


def _with_an_axis(feature: Any) -> Any:
    """A feature of one value for each example gets an axis for it."""
    feature = tf.convert_to_tensor_or_sparse_tensor(feature)
    if feature.shape.ndims != 1:
        return feature
    if isinstance(feature, tf.SparseTensor):
        return tf.sparse_reshape(feature, [tf.size(feature), 1])
    return tf.expand_dims(feature, -1)


def _is_older(column: Any) -> bool:
    """A column of TF 1's first protocol: those that share an embedding still are.

    What it offers to input layers has no public name.
    """
    return not hasattr(column, "create_state") and hasattr(
        column, "_get_sequence_dense_tensor"
    )


def sequence_input(
    features: dict[str, Any], columns: Any, *, scope: str = "sequence_input_layer"
) -> tuple[Any, Any, list[Any]]:
    """[batch, time, total width] of all columns, the lengths, and the variables."""
    shared: list[Any] = []
    if not isinstance(columns, (_columns.FeatureColumn, dict)):
        given = list(columns)
        shared = [one for one in given if _is_older(one)]
        columns = [one for one in given if not _is_older(one)]
    ordered = sorted_columns(columns) if columns or not shared else []
    state, older = ColumnState(), OlderFeatures(features)
    with tf.variable_scope(scope):
        parts, lengths = [], []
        cache = _columns.FeatureTransformationCache(features)
        for column in sorted([*ordered, *shared], key=lambda one: str(one.name)):
            if _is_older(column):
                with tf.variable_scope(None, default_name=column._var_scope_name):
                    tensor, length = column._get_sequence_dense_tensor(older)
                width = column._variable_shape.num_elements()
            elif not hasattr(column, "get_sequence_dense_tensor"):
                raise ValueError(
                    "All feature_columns must be of type _SequenceDenseColumn. You "
                    "can wrap a sequence_categorical_column with an embedding_column "
                    f"or indicator_column. Given (type {type(column)}): {column}"
                )
            else:
                with tf.variable_scope(_scope_name(column)):
                    column.create_state(state)
                    tensor, length = column.get_sequence_dense_tensor(cache, state)
                width = column.variable_shape.num_elements()
            shape = tf.shape(tensor)
            parts.append(tf.reshape(tensor, [shape[0], shape[1], width]))
            lengths.append(length)
        same = [tf.assert_equal(lengths[0], other) for other in lengths[1:]]
        with tf.control_dependencies(same):
            variables = state.variables + _shared_weights(ordered)
            return tf.concat(parts, axis=-1), tf.identity(lengths[0]), variables


class LinearParts:
    """A linear model: logits, its variables, and what SDCA needs besides."""

    def __init__(
        self, *, logits: Any, bias: Any, weights: dict[Any, Any], state: ColumnState
    ) -> None:
        self.logits = logits
        self.bias = bias
        self.weights = weights
        self.state = state

    @property
    def variables(self) -> list[Any]:
        """All trained variables, the bias last."""
        return [*self.state.variables, self.bias]


def linear_model(
    features: dict[str, Any],
    columns: Any,
    *,
    units: int,
    sparse_combiner: str,
    scope: str = "linear_model",
) -> LinearParts:
    """The sum of one weight per feature value, and a bias."""
    ordered = sorted_columns(columns)
    for column in ordered:
        if not (is_categorical(column) or isinstance(column, _columns.DenseColumn)):
            raise ValueError(
                "Items of feature_columns must be either a DenseColumn or "
                f"CategoricalColumn. Given: {column}"
            )
    state = ColumnState()
    weights: dict[Any, Any] = {}
    with tf.variable_scope(scope):
        for column in ordered:
            with tf.variable_scope(_scope_name(column)):
                column.create_state(state)
                if is_categorical(column):
                    rows = column.num_buckets
                else:
                    rows = column.variable_shape.num_elements()
                weights[column] = state.create_variable(
                    column,
                    "weights",
                    shape=(rows, units),
                    initializer=tf.zeros_initializer(),
                )
        bias = tf.get_variable(
            "bias_weights", shape=[units], initializer=tf.zeros_initializer()
        )
        cache = _columns.FeatureTransformationCache(features)
        sums = []
        for column in ordered:
            with tf.name_scope(_scope_name(column)):
                sums.append(
                    _weighted_sum(
                        column, cache, state, weights[column], sparse_combiner
                    )
                )
        total = tf.add_n(sums, name="weighted_sum_no_bias")
        logits = tf.nn.bias_add(total, tf.convert_to_tensor(bias), name="weighted_sum")
    return LinearParts(logits=logits, bias=bias, weights=weights, state=state)


def _weighted_sum(
    column: Any, cache: Any, state: ColumnState, weights: Any, combiner: str
) -> Any:
    if not is_categorical(column):
        tensor = column.get_dense_tensor(cache, state)
        width = column.variable_shape.num_elements()
        flat = tf.reshape(tensor, [tf.shape(tensor)[0], width])
        return tf.matmul(flat, tf.convert_to_tensor(weights), name="weighted_sum")
    pair = column.get_sparse_tensors(cache, state)

    def one_row_per_example(sparse: Any) -> Any:
        return tf.sparse_reshape(sparse, [tf.shape(sparse)[0], -1])

    values = pair.weight_tensor
    return tf.nn.safe_embedding_lookup_sparse(
        weights,
        one_row_per_example(pair.id_tensor),
        sparse_weights=None if values is None else one_row_per_example(values),
        combiner=combiner,
        name="weighted_sum",
    )
