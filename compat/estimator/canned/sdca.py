"""``LinearSDCA``: stochastic dual coordinate ascent for linear models.

The solver is an op that TensorFlow still ships. It works on weights before
L1 shrinkage ("unshrunk") and on four numbers per example, kept in a hash table
under the example's id; both are part of the checkpoint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import tensorflow as tf2
import tensorflow.compat.v1 as tf

from ..heads.base import TaskHead
from ..heads.tasks import BinaryTask, RegressionTask
from ..mode_keys import ModeKeys
from . import columns as fc

__all__ = ["LinearSDCA", "check_linear", "sdca_spec"]


class LinearSDCA:
    """The ``optimizer`` of a linear classifier or regressor that runs SDCA."""

    def __init__(
        self,
        example_id_column: str,
        num_loss_partitions: int = 1,
        num_table_shards: int | None = None,
        symmetric_l1_regularization: float = 0.0,
        symmetric_l2_regularization: float = 1.0,
        adaptive: bool = False,
    ) -> None:
        self._example_id_column = example_id_column
        self._num_loss_partitions = num_loss_partitions
        self._num_table_shards = num_table_shards
        self._symmetric_l1_regularization = symmetric_l1_regularization
        self._symmetric_l2_regularization = symmetric_l2_regularization
        self._adaptive = adaptive


def check_linear(given: Mapping[str, Any]) -> None:
    """What the arguments of a linear model must be like to train it with SDCA."""
    if not isinstance(given["optimizer"], LinearSDCA):
        return
    if given["sparse_combiner"] != "sum":
        raise ValueError(
            'sparse_combiner must be "sum" when optimizer is a LinearSDCA object.'
        )
    if not fc.are_all_new(given["feature_columns"]):
        raise ValueError(
            "V2 feature columns required when optimizer is a LinearSDCA object."
        )
    if given.get("n_classes", 2) > 2:
        raise ValueError("LinearSDCA cannot be used in a multi-class setting.")
    if given.get("label_dimension", 1) > 1:
        raise ValueError("LinearSDCA can only be used with one-dimensional label.")


def _loss_type(head: Any) -> str:
    task = getattr(head, "_task", None)
    if isinstance(task, BinaryTask):
        return "logistic_loss"
    # A link or a loss of the user's own makes it another problem.
    if isinstance(task, RegressionTask) and task.inverse_link_fn is None:
        if head.logits_dimension != 1:
            raise ValueError("LinearSDCA can only be used with one-dimensional label.")
        return "squared_loss"
    raise ValueError(f"Unsupported head type: {head}")


def sdca_spec(
    features: Any,
    labels: Any,
    mode: str,
    head: Any,
    feature_columns: Sequence[Any],
    optimizer: LinearSDCA,
) -> Any:
    """The spec of a linear model that SDCA trains."""
    loss_type = _loss_type(head)
    scope = "linear/linear_model" if isinstance(head, TaskHead) else "linear_model"
    parts = fc.linear_model(
        features, feature_columns, units=1, sparse_combiner="sum", scope=scope
    )
    from .linear import summarise_weights

    summarise_weights(parts.bias, parts.state.variables, units=1)
    if mode != ModeKeys.TRAIN:
        return head.create_estimator_spec(
            features=features, mode=mode, labels=labels, logits=parts.logits
        )
    model = _Model(optimizer, features, labels, head, parts, loss_type)
    train_op = model.minimize(tf.train.get_global_step())
    spec = head.create_estimator_spec(
        features=features,
        mode=mode,
        labels=labels,
        train_op_fn=lambda loss: train_op,
        logits=parts.logits,
    )
    hook = _UpdateWeightsHook(model, train_op)
    return spec._replace(training_chief_hooks=(*spec.training_chief_hooks, hook))


class _UpdateWeightsHook(tf.train.SessionRunHook):
    """Copies the solver's weights into the model after every step."""

    def __init__(self, model: _Model, train_op: Any) -> None:
        self._model = model
        self._train_op = train_op

    def begin(self) -> None:
        """Builds the copying op."""
        self._update = self._model.update_weights(self._train_op)

    def before_run(self, run_context: Any) -> Any:
        """Runs it together with the step."""
        del run_context
        return tf.train.SessionRunArgs(self._update)


class _Sparse(NamedTuple):
    """One categorical feature of a batch: one row per value."""

    example: Any
    feature: Any
    value: Any


def _unique_values(pair: Any) -> _Sparse:
    """Values of one column, those that occur twice in an example added up."""
    ids = pair.id_tensor
    if pair.weight_tensor is None:
        values = tf.ones([tf.shape(ids.indices)[0]], tf.float32)
    else:
        values = pair.weight_tensor.values
    example = tf.reshape(ids.indices[:, 0], [-1])
    feature = tf.cast(tf.reshape(ids.values, [-1]), tf.int64)
    # Out-of-vocabulary values come as -1 and count for nothing.
    known = feature >= 0
    example = tf.boolean_mask(example, known)
    feature = tf.boolean_mask(feature, known)
    values = tf.boolean_mask(values, known)
    width = tf.reduce_max(feature) + 1
    flat, index = tf.unique(width * example + feature)
    count = tf.shape(flat)[0]
    example = tf.unsorted_segment_min(example, index, count)
    total = tf.reshape(tf.unsorted_segment_sum(values, index, count), [-1])
    return _Sparse(example, flat - width * example, total)


def _pieces(variable: Any) -> list[Any]:
    """The parts of a partitioned variable or of a slot, or the variable alone."""
    if isinstance(variable, list):
        return variable
    # Not by `tf.Variable`: those of TF 2 layers are no instances of the v1 class.
    if hasattr(variable, "_get_variable_list"):
        return list(variable)
    return [variable]


def _add_to(variable: Any, update: Any) -> list[Any]:
    pieces = _pieces(variable)
    sizes = [tf.dimension_value(piece.shape[0]) for piece in pieces]
    return [
        piece.assign_add(part)
        for piece, part in zip(pieces, tf.split(update, sizes, axis=0), strict=True)
    ]


class _Table:
    """State of the examples by fingerprint of their id, in one or more shards."""

    def __init__(self, shards: int) -> None:
        name = "ShardedMutableHashTable"
        self._shards = [
            tf.lookup.experimental.DenseHashTable(
                key_dtype=tf.int64,
                value_dtype=tf.float32,
                default_value=[0.0, 0.0, 0.0, 0.0],
                empty_key=[0, 0],
                deleted_key=[1, 1],
                # Checkpoints know the tables by these names.
                name=f"{name}-{index + 1}-of-{shards}",
            )
            for index in range(shards)
        ]

    def _split(self, keys: Any, values: Any) -> list[Any]:
        shard = tf.cast(tf.mod(tf.abs(keys[:, 0]), len(self._shards)), tf.int32)
        found: list[Any] = tf.dynamic_partition(values, shard, len(self._shards))
        return found

    def lookup(self, keys: Any) -> Any:
        """[n, 4] for the fingerprints [n, 2]."""
        if len(self._shards) == 1:
            return self._shards[0].lookup(keys)
        positions = self._split(keys, tf.range(tf.shape(keys)[0]))
        found = [
            shard.lookup(own)
            for shard, own in zip(self._shards, self._split(keys, keys), strict=True)
        ]
        return tf.dynamic_stitch(positions, found)

    def insert(self, keys: Any, values: Any) -> list[Any]:
        """Ops that store new states."""
        if len(self._shards) == 1:
            return [self._shards[0].insert(keys, values)]
        return [
            shard.insert(own_keys, own_values)
            for shard, own_keys, own_values in zip(
                self._shards,
                self._split(keys, keys),
                self._split(keys, values),
                strict=True,
            )
        ]

    def sums(self) -> Any:
        """Column sums of all states."""
        totals = [
            tf.reduce_sum(tf.cast(shard.export()[1], tf.float64), 0)
            for shard in self._shards
        ]
        return tf.add_n(totals)

    def size(self) -> Any:
        """Number of examples seen."""
        return tf.add_n([shard.size() for shard in self._shards])


class _Model:
    """The dual problem of one linear model."""

    def __init__(
        self,
        optimizer: LinearSDCA,
        features: Any,
        labels: Any,
        head: Any,
        parts: fc.LinearParts,
        loss_type: str,
    ) -> None:
        if optimizer._symmetric_l2_regularization <= 0.0:
            raise ValueError("symmetric_l2_regularization should be positive.")
        if optimizer._symmetric_l1_regularization < 0.0:
            raise ValueError("symmetric_l1_regularization should be non-negative.")
        self._l1 = float(optimizer._symmetric_l1_regularization)
        self._l2 = float(optimizer._symmetric_l2_regularization)
        self._optimizer = optimizer
        self._loss_type = loss_type
        self._read_batch(features, labels, head._weight_column, parts)
        self._unshrunk = {
            key: [self._slot(variable) for variable in variables]
            for key, variables in self._variables.items()
        }
        self._table = _Table(optimizer._num_table_shards or 1)
        tf.summary.scalar("approximate_duality_gap", self._duality_gap())
        tf.summary.scalar("examples_seen", self._table.size())

    def _read_batch(
        self, features: Any, labels: Any, weight_column: Any, parts: fc.LinearParts
    ) -> None:
        batch = tf.shape(labels)[0]
        cache = tf2.__internal__.feature_column.FeatureTransformationCache(features)
        self._sparse: list[_Sparse] = []
        self._dense: list[Any] = []
        self._variables: dict[str, list[Any]] = {"sparse": [], "dense": []}
        for column, weights in parts.weights.items():
            if fc.is_categorical(column):
                pair = column.get_sparse_tensors(cache, parts.state)
                self._sparse.append(_unique_values(pair))
                self._variables["sparse"].append(weights)
            else:
                if column.variable_shape.ndims != 1:
                    raise ValueError(
                        f"Column {type(column).__name__} has rank "
                        f"{column.variable_shape.ndims}, larger than 1."
                    )
                self._dense.append(column.get_dense_tensor(cache, parts.state))
                self._variables["dense"].append(weights)
        self._dense.append(tf.ones([batch, 1]))
        self._variables["dense"].append(parts.bias)
        key = getattr(weight_column, "key", weight_column)
        self._weights = (
            tf.reshape(features[key], [-1]) if key else tf.ones([batch], tf.float32)
        )
        self._labels = tf.cast(tf.reshape(labels, [-1]), tf.float32)
        self._ids = features[self._optimizer._example_id_column]

    def _slot(self, variable: Any) -> list[Any]:
        return [
            tf.Variable(
                tf.zeros(piece.shape, tf.float32),
                name=f"{piece.op.name}_unshrunk",
            )
            for piece in _pieces(variable)
        ]

    def minimize(self, global_step: Any) -> Any:
        """One pass of the solver over the batch; moves the global step."""
        with tf.name_scope("sdca/minimize"):
            fingerprints = tf.raw_ops.SdcaFprint(input=tf.reshape(self._ids, [-1]))
            indices, weights = [], []
            for feature, slot in zip(
                self._sparse, self._unshrunk["sparse"], strict=True
            ):
                used = tf.unique(tf.cast(feature.feature, tf.int32))[0]
                indices.append(tf.cast(used, tf.int64))
                weights.append(tf.gather(tf.concat(slot, axis=0), indices[-1]))
            state, sparse_updates, dense_updates = tf.raw_ops.SdcaOptimizerV2(
                sparse_example_indices=[s.example for s in self._sparse],
                sparse_feature_indices=[s.feature for s in self._sparse],
                sparse_feature_values=[s.value for s in self._sparse],
                dense_features=self._dense,
                example_weights=self._weights,
                example_labels=self._labels,
                sparse_indices=indices,
                sparse_weights=weights,
                dense_weights=[
                    tf.concat(slot, axis=0) for slot in self._unshrunk["dense"]
                ],
                example_state_data=self._table.lookup(fingerprints),
                loss_type=self._loss_type,
                l1=self._l1,
                l2=self._l2,
                num_loss_partitions=self._optimizer._num_loss_partitions,
                num_inner_iterations=1,
                adaptive=self._optimizer._adaptive,
            )
            with tf.control_dependencies([state]):
                updates = self._table.insert(fingerprints, state)
                for slot, index, update in zip(
                    self._unshrunk["sparse"], indices, sparse_updates, strict=True
                ):
                    rows = sum(tf.dimension_value(piece.shape[0]) for piece in slot)
                    shape = [rows, *slot[0].shape[1:]]
                    whole = tf.scatter_nd(index[:, tf.newaxis], update, shape)
                    updates.extend(_add_to(slot, whole))
                for slot, update in zip(
                    self._unshrunk["dense"], dense_updates, strict=True
                ):
                    updates.extend(_add_to(slot, update))
            with tf.control_dependencies(updates):
                return tf.assign_add(global_step, 1).op

    def update_weights(self, train_op: Any) -> Any:
        """Weights of the model from those of the solver, shrunk by L1."""
        shrinkage = self._l1 / self._l2
        with tf.control_dependencies([train_op]):
            updates = []
            for key, variables in self._variables.items():
                for variable, slot in zip(variables, self._unshrunk[key], strict=True):
                    for piece, source in zip(_pieces(variable), slot, strict=True):
                        value = tf.identity(source.read_value())
                        if self._l1 > 0:
                            value = tf.sign(value) * tf.maximum(
                                0.0, tf.abs(value) - shrinkage
                            )
                        updates.append(piece.assign(value))
            return tf.group(*updates)

    def _duality_gap(self) -> Any:
        with tf.name_scope("sdca/approximate_duality_gap"):
            sums = self._table.sums()
            weights = [
                tf.cast(tf.convert_to_tensor(variable), tf.float64)
                for variables in self._variables.values()
                for variable in variables
            ]
            l1 = self._l1 * tf.add_n([tf.reduce_sum(tf.abs(w)) for w in weights])
            l2 = self._l2 * tf.add_n([tf.reduce_sum(tf.square(w)) for w in weights])
            return (sums[1] + sums[2] + l1 + l2) / sums[3]
