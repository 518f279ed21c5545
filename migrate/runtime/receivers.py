"""Receivers: what an exported model is fed, and the features that become of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import tensorflow as tf

from .vocabulary import v1

# The name of the input of a signature that has just one: clients depend on it.
LONE_RECEIVER_NAME = "input"


class ReceiverFields(NamedTuple):
    """The fields of a receiver."""

    features: Any
    receiver_tensors: dict[str, Any]
    receiver_tensors_alternatives: dict[str, Any] | None


class ServingInputReceiver(ReceiverFields):
    """What clients feed and what the model function gets, always as a dict."""

    __slots__ = ()

    def __new__(
        cls,
        features: Any,
        receiver_tensors: Any,
        receiver_tensors_alternatives: dict[str, Any] | None = None,
    ) -> ServingInputReceiver:
        if features is None:
            raise ValueError("features must be defined.")
        if not isinstance(features, dict):
            features = {"feature": features}
        return super().__new__(
            cls,
            checked_tensors(features, "feature"),
            named_receivers(receiver_tensors),
            named_alternatives(receiver_tensors_alternatives),
        )


class TensorServingInputReceiver(ReceiverFields):
    """A receiver for models whose features are one tensor, not a dict."""

    __slots__ = ()

    def __new__(
        cls,
        features: Any,
        receiver_tensors: Any,
        receiver_tensors_alternatives: dict[str, Any] | None = None,
    ) -> TensorServingInputReceiver:
        if features is None:
            raise ValueError("features must be defined.")
        checked_tensors({"": features}, "feature")
        return super().__new__(
            cls,
            features,
            named_receivers(receiver_tensors),
            named_alternatives(receiver_tensors_alternatives),
        )


def checked_tensors(tensors: dict[Any, Any], what: str) -> dict[Any, Any]:
    """A dict of tensors."""
    for name, value in tensors.items():
        if not isinstance(value, (tf.Tensor, tf.SparseTensor, tf.RaggedTensor)):
            label = f"{what} {name}" if name else what
            raise ValueError(
                f"{label} must be a Tensor, SparseTensor, or RaggedTensor."
            )
    return tensors


def named_receivers(tensors: Any) -> dict[str, Any]:
    """What is fed, by the names that clients use."""
    if tensors is None:
        raise ValueError("receiver_tensors must be defined.")
    if not isinstance(tensors, dict):
        tensors = {LONE_RECEIVER_NAME: tensors}
    for name in tensors:
        if not isinstance(name, str):
            raise ValueError(f"receiver_tensor keys must be strings: {name}.")
    return checked_tensors(tensors, "receiver_tensor")


def named_alternatives(alternatives: Any) -> dict[str, Any] | None:
    """The further ways to feed a model."""
    if alternatives is None:
        return None
    if not isinstance(alternatives, dict):
        raise ValueError(
            f"receiver_tensors_alternatives must be a dict: {alternatives}."
        )
    return {name: named_receivers(tensors) for name, tensors in alternatives.items()}


class SupervisedFields(NamedTuple):
    """The fields of a receiver with labels."""

    features: Any
    labels: Any
    receiver_tensors: dict[str, Any]


class SupervisedInputReceiver(SupervisedFields):
    """What is fed to a model that is exported for training or evaluation."""

    __slots__ = ()

    def __new__(
        cls, features: Any, labels: Any, receiver_tensors: Any
    ) -> SupervisedInputReceiver:
        return super().__new__(cls, features, labels, named_receivers(receiver_tensors))


def build_raw_supervised_input_receiver_fn(
    features: Any, labels: Any, default_batch_size: int | None = None
) -> Callable[[], SupervisedInputReceiver]:
    """A receiver function that is fed features and labels."""
    shared = named_parts(features, LONE_RECEIVER_NAME).keys() & named_parts(
        labels, "label"
    )
    if shared:
        raise ValueError(
            "Features and labels must have distinct keys. "
            f"Found overlapping keys: {shared}"
        )

    def supervised_input_receiver_fn() -> SupervisedInputReceiver:
        made = [
            tf.nest.map_structure(
                lambda tensor: placeholder_like(tensor, default_batch_size), tensors
            )
            for tensors in (features, labels)
        ]
        fed = named_parts(made[0], LONE_RECEIVER_NAME) | named_parts(made[1], "label")
        return SupervisedInputReceiver(made[0], made[1], fed)

    return supervised_input_receiver_fn


def named_parts(tensors: Any, name: str) -> dict[str, Any]:
    """Tensors by name; a lone one gets the name given."""
    return tensors if isinstance(tensors, dict) else {name: tensors}


def placeholder_like(tensor: Any, batch_size: int | None) -> Any:
    """A placeholder of a tensor's type and shape, but for the size of the batch."""
    shape = tf.TensorShape([batch_size]).concatenate(tf.TensorShape(tensor.shape)[1:])
    name = getattr(tensor, "name", None) if not hasattr(tensor, "numpy") else None
    # The input of the exported model is called as what it stands for.
    return v1.placeholder(tensor.dtype, shape, name and name.split(":")[0])


def build_raw_serving_input_receiver_fn(
    features: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """A receiver function that is fed every feature directly."""

    def serving_input_receiver_fn() -> ServingInputReceiver:
        fed = {
            name: placeholder_like(tensor, default_batch_size)
            for name, tensor in features.items()
        }
        return ServingInputReceiver(fed, fed)

    return serving_input_receiver_fn


def build_parsing_serving_input_receiver_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """A receiver function that is fed serialized `tf.train.Example` messages."""

    def serving_input_receiver_fn() -> ServingInputReceiver:
        examples = v1.placeholder(
            tf.string, [default_batch_size], "input_example_tensor"
        )
        features = tf.io.parse_example(examples, feature_spec)
        return ServingInputReceiver(features, {"examples": examples})

    return serving_input_receiver_fn


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Any:
    """A placeholder in a graph; where there is none, what describes it."""
    if tf.executing_eagerly():
        return tf.TensorSpec(shape, dtype, name)
    return v1.placeholder(dtype, shape, name)
