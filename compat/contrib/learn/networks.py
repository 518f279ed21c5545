"""The networks of ``tf.contrib.learn``'s canned models: deep, wide, and both."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ...estimator.canned.partitioners import input_partitioner, variable_partitioner
from ..layers import (
    OPTIMIZER_CLS_NAMES,
    dropout,
    fully_connected,
    input_from_feature_columns,
    optimize_loss,
    weighted_sum_from_feature_columns,
)
from .heads import Head
from .model_fns import ModeKeys, ModelFnOps

__all__ = [
    "Deep",
    "Wide",
    "deep_logits",
    "model_fn_of",
    "summarize_layer",
    "wide_logits",
]

_DNN_RATE = 0.05
_LARGEST_LINEAR_RATE = 0.2


class Deep:
    """Layers over the columns, and the optimizer of their variables."""

    def __init__(
        self,
        columns: Any,
        hidden_units: Sequence[int],
        *,
        optimizer: Any,
        activation_fn: Any,
        dropout: float | None,
        clip_norm: float | None,
    ) -> None:
        self.columns = tuple(columns)
        self._hidden_units = list(hidden_units)
        self._optimizer = optimizer
        self._activation_fn = activation_fn
        self._dropout = dropout
        self._clip_norm = clip_norm

    def logits(
        self, features: Any, mode: str, dimension: int, config: Any, *, joint: str
    ) -> Any:
        """The output of the last layer, in the scope of the network.

        ``joint`` stands between a layer's name and what its summaries tell.
        """
        return deep_logits(
            features,
            self.columns,
            self._hidden_units,
            dimension,
            activation_fn=self._activation_fn,
            dropout_rate=self._dropout if mode == ModeKeys.TRAIN else None,
            partitioner=input_partitioner(config),
            joint=joint,
        )

    def train_op(self, loss: Any) -> Any:
        """A step of the variables of this network."""
        return optimize_loss(
            loss=loss,
            global_step=tf.train.get_global_step(),
            learning_rate=_DNN_RATE,
            optimizer=_optimizer(self._optimizer, tf.train.AdagradOptimizer, _DNN_RATE),
            clip_gradients=self._clip_norm,
            name="dnn",
            variables=tf.get_collection("dnn"),
            summaries=[],  # the Estimator writes the loss
        )


class Wide:
    """A weighted sum of the columns, and the optimizer of its variables."""

    def __init__(
        self, columns: Any, *, optimizer: Any, clip_norm: float | None
    ) -> None:
        self.columns = tuple(columns)
        self._optimizer = optimizer
        self._clip_norm = clip_norm
        self._rate = min(_LARGEST_LINEAR_RATE, 1.0 / math.sqrt(len(self.columns)))

    def logits(self, features: Any, dimension: int) -> Any:
        """The sum, in the scope of the network."""
        return wide_logits(features, self.columns, dimension)

    def own_train_op(self, loss: Any) -> Any:
        """A step of a model that is nothing else."""
        variables = tf.get_collection("linear")
        gradients = tf.gradients(loss, variables)
        if self._clip_norm:
            gradients, _ = tf.clip_by_global_norm(gradients, self._clip_norm)
        optimizer = _optimizer(self._optimizer, tf.train.FtrlOptimizer, self._rate)
        return optimizer.apply_gradients(
            zip(gradients, variables, strict=True),
            global_step=tf.train.get_global_step(),
        )

    def train_op(self, loss: Any, *, counts: bool) -> Any:
        """A step of its part of a model."""
        rate = self._rate
        return optimize_loss(
            loss=loss,
            global_step=tf.train.get_global_step(),
            learning_rate=rate,
            optimizer=_optimizer(self._optimizer, tf.train.FtrlOptimizer, rate),
            clip_gradients=self._clip_norm,
            variables=tf.get_collection("linear"),
            name="linear",
            summaries=[],
            increment_global_step=counts,
        )


def deep_logits(
    features: Any,
    columns: Sequence[Any],
    hidden_units: Sequence[int],
    dimension: int,
    *,
    activation_fn: Any,
    dropout_rate: float | None,
    partitioner: Any,
    joint: str,
) -> Any:
    """Layers over columns; the output of the last one."""
    with tf.variable_scope(
        "input_from_feature_columns", partitioner=partitioner
    ) as scope:
        net = input_from_feature_columns(
            features, columns, weight_collections=["dnn"], scope=scope
        )
    for place, units in enumerate(hidden_units):
        net = fully_connected(
            net,
            units,
            activation_fn=activation_fn,
            variables_collections=["dnn"],
            scope=f"hiddenlayer_{place}",
        )
        if dropout_rate is not None:
            net = dropout(net, keep_prob=1.0 - dropout_rate)
        summarize_layer(net, f"dnn/hiddenlayer_{place}", joint)
    logits = fully_connected(
        net,
        dimension,
        activation_fn=None,
        variables_collections=["dnn"],
        scope="logits",
    )
    summarize_layer(logits, "dnn/logits", joint)
    return logits


def wide_logits(features: Any, columns: Sequence[Any], dimension: int) -> Any:
    """A weighted sum of columns, in the scope of its network."""
    logits, _, _ = weighted_sum_from_feature_columns(
        features,
        columns,
        num_outputs=dimension,
        weight_collections=["linear"],
        scope=tf.get_variable_scope(),
    )
    return logits


def _optimizer(given: Any, default: Callable[..., Any], rate: float) -> Any:
    if given is None:
        return default(learning_rate=rate)
    if isinstance(given, str):
        return OPTIMIZER_CLS_NAMES[given](learning_rate=rate)
    return given() if callable(given) else given


def _tensors(features: Any) -> list[Any]:
    return list(features.values()) if isinstance(features, Mapping) else [features]


def summarize_layer(value: Any, name: str, joint: str) -> None:
    """How many values of a layer are zero, and all of them.

    DNNs told so in other words than wide and deep models; linear models did not.
    """
    with tf.name_scope(f"{name.partition('/')[0]}/"):
        zeros = tf.nn.zero_fraction(value)
        tf.summary.scalar(f"{name}{joint}fraction_of_zero_values", zeros)
        tf.summary.histogram(f"{name}{joint}activation", value)


def model_fn_of(
    head: Head, deep: Deep | None, wide: Wide | None, *, counts_twice: bool
) -> Any:
    """A model function over one or both networks."""

    def model_fn(
        features: Any, labels: Any, mode: str, params: Any, config: Any
    ) -> ModelFnOps:
        del params
        if not isinstance(features, Mapping):
            features = {"": features}
        size = head.logits_dimension

        def ops(logits: Any, train_op_fn: Callable[[Any], Any]) -> ModelFnOps:
            return head.create_model_fn_ops(
                features, mode, labels, train_op_fn=train_op_fn, logits=logits
            )

        def scope(name: str, partitioner: Any) -> Any:
            # Parts even where there is one: slots are named after them.
            values = tuple(_tensors(features))
            return tf.variable_scope(name, values=values, partitioner=partitioner)

        if wide is None:
            assert deep is not None
            with scope("dnn", variable_partitioner(config)):
                logits = deep.logits(features, mode, size, config, joint="_")
                return ops(logits, deep.train_op)
        if deep is None:
            with scope("linear", input_partitioner(config)):
                return ops(wide.logits(features, size), wide.own_train_op)
        with scope("dnn", variable_partitioner(config)):
            of_deep = deep.logits(features, mode, size, config, joint="/")
        with scope("linear", input_partitioner(config)):
            of_wide = wide.logits(features, size)
            summarize_layer(of_wide, "linear", "/")
        logits = of_deep + of_wide

        def train_op_fn(loss: Any) -> Any:
            # Both steps counted, which programs have built their numbers on.
            return tf.group(
                deep.train_op(loss), wide.train_op(loss, counts=counts_twice)
            )

        return ops(logits, train_op_fn)

    return model_fn
