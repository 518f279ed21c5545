"""Dense layers and batch normalisation with TF 1 variable names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from ..mode_keys import ModeKeys

__all__ = ["Network", "dense", "hidden_layers", "summarise_layer"]

_MOMENTUM = 0.999
_EPSILON = 1e-3


class Network:
    """Collects variables and updates while layers are put on each other."""

    def __init__(self) -> None:
        self.variables: list[Any] = []
        self.updates: list[Any] = []

    def variable(self, name: str, shape: Sequence[int], **options: Any) -> Any:
        """A variable of the current scope, remembered when trained."""
        variable = tf.get_variable(name, shape=shape, dtype=tf.float32, **options)
        if options.get("trainable", True):
            self.variables.append(variable)
        return variable


def dense(
    network: Network,
    inputs: Any,
    units: int,
    *,
    activation: Callable[[Any], Any] | None = None,
) -> Any:
    """activation(inputs · kernel + bias) with Glorot-uniform kernels."""
    width = tf.dimension_value(inputs.shape[-1])
    kernel = network.variable(
        "kernel", [width, units], initializer=tf.glorot_uniform_initializer()
    )
    bias = network.variable("bias", [units], initializer=tf.zeros_initializer())
    kernel = tf.convert_to_tensor(kernel)
    if inputs.shape.ndims == 2:
        product = tf.matmul(inputs, kernel)
    else:
        product = tf.tensordot(inputs, kernel, [[inputs.shape.ndims - 1], [0]])
    outputs = tf.nn.bias_add(product, tf.convert_to_tensor(bias))
    return outputs if activation is None else activation(outputs)


def batch_normalization(network: Network, inputs: Any, *, training: bool) -> Any:
    """Batch normalisation of [batch, features]; averages move with `updates`."""
    width = [tf.dimension_value(inputs.shape[-1])]
    gamma = network.variable("gamma", width, initializer=tf.ones_initializer())
    beta = network.variable("beta", width, initializer=tf.zeros_initializer())
    # Replicas see different batches: the saved averages are their mean.
    averages = {
        "trainable": False,
        "synchronization": tf.VariableSynchronization.ON_READ,
        "aggregation": tf.VariableAggregation.MEAN,
        "partitioner": None,
    }
    moving_mean = network.variable(
        "moving_mean", width, initializer=tf.zeros_initializer(), **averages
    )
    moving_variance = network.variable(
        "moving_variance", width, initializer=tf.ones_initializer(), **averages
    )
    if training:
        mean, variance = tf.nn.moments(inputs, [0])
        for moving, now in ((moving_mean, mean), (moving_variance, variance)):
            network.updates.append(
                moving.assign_sub((_whole(moving) - now) * (1.0 - _MOMENTUM))
            )
    else:
        mean, variance = _whole(moving_mean), _whole(moving_variance)
    return tf.nn.batch_normalization(
        inputs, mean, variance, _whole(beta), _whole(gamma), _EPSILON
    )


def _whole(variable: Any) -> Any:
    return tf.convert_to_tensor(variable)


def hidden_layers(
    network: Network,
    inputs: Any,
    *,
    hidden_units: Sequence[int],
    activation: Callable[[Any], Any] | None,
    dropout: float | None,
    batch_norm: bool,
    mode: str,
    tag_of: Callable[[Any], str],
) -> Any:
    """The hidden layers of a canned DNN, in the order dense, dropout, norm."""
    training = mode == ModeKeys.TRAIN
    net = inputs
    for index, units in enumerate(hidden_units):
        with tf.variable_scope(f"hiddenlayer_{index}") as scope:
            net = dense(network, net, units, activation=activation)
            if dropout is not None and training:
                net = tf.nn.dropout(net, rate=dropout)
            if batch_norm:
                with tf.variable_scope(f"batchnorm_{index}"):
                    net = batch_normalization(network, net, training=training)
        summarise_layer(net, tag_of(scope))
    return net


def summarise_layer(value: Any, tag: str) -> None:
    """The two summaries that canned models have always written per layer.

    The scope around comes in front of the tag: with the whole name of a variable
    scope as tag, event files of TF 1 say ``dnn/dnn/hiddenlayer_0/activation``.
    """
    tf.summary.scalar(f"{tag}/fraction_of_zero_values", tf.nn.zero_fraction(value))
    tf.summary.histogram(f"{tag}/activation", value)
