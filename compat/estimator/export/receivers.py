"""Input receivers: how a request to an exported model becomes features.

A receiver names two ends of a small graph: the tensors a client feeds and the
features (for training exports also the labels) that the model function gets.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import tensorflow.compat.v1 as tf

__all__ = [
    "SINGLE_FEATURE_NAME",
    "SINGLE_LABEL_NAME",
    "SINGLE_RECEIVER_NAME",
    "ServingInputReceiver",
    "SupervisedInputReceiver",
    "TensorServingInputReceiver",
    "UnsupervisedInputReceiver",
    "build_parsing_serving_input_receiver_fn",
    "build_raw_serving_input_receiver_fn",
    "build_raw_supervised_input_receiver_fn",
    "build_supervised_input_receiver_fn_from_input_fn",
]

# The names a lone tensor gets: part of every exported signature, so clients
# of existing models depend on them.
SINGLE_FEATURE_NAME = "feature"
SINGLE_LABEL_NAME = "label"
SINGLE_RECEIVER_NAME = "input"

_LONE_NAMES = {
    "feature": SINGLE_FEATURE_NAME,
    "label": SINGLE_LABEL_NAME,
    "receiver_tensor": SINGLE_RECEIVER_NAME,
    "receiver_tensors_alternative": SINGLE_RECEIVER_NAME,
}


def _check_tensor(value: Any, name: Any, what: str) -> None:
    if isinstance(value, (tf.Tensor, tf.SparseTensor, tf.RaggedTensor)):
        return
    if hasattr(value, "tensor"):
        # Labelled tensors wrap a real one and were accepted by every release.
        try:
            tf.convert_to_tensor(value)
        except TypeError:
            pass
        else:
            return
    label = f"{what} {name}" if name else what
    raise ValueError(f"{label} must be a Tensor, SparseTensor, or RaggedTensor.")


def _named(tensors: Any, what: str, *, int_keys: bool = False) -> dict[Any, Any]:
    """``tensors`` as a checked dict; the same object when it was one."""
    if tensors is None:
        raise ValueError(f"{what}s must be defined.")
    named: dict[Any, Any] = (
        tensors if isinstance(tensors, dict) else {_LONE_NAMES[what]: tensors}
    )
    for key, value in named.items():
        if not isinstance(key, str):
            if not int_keys:
                raise ValueError(f"{what} keys must be strings: {key}.")
            if not isinstance(key, int):
                raise ValueError(f"{what} keys must be strings or ints: {key}.")
        _check_tensor(value, key, what)
    return named


def _checked_alternatives(alternatives: Any) -> dict[str, Any] | None:
    if alternatives is None:
        return None
    if not isinstance(alternatives, dict):
        raise ValueError(
            f"receiver_tensors_alternatives must be a dict: {alternatives}."
        )
    for name, tensors in alternatives.items():
        alternatives[name] = _named(tensors, "receiver_tensors_alternative")
    return alternatives


class _ReceiverFields(NamedTuple):
    features: Any
    receiver_tensors: dict[str, Any]
    receiver_tensors_alternatives: dict[str, Any] | None


class ServingInputReceiver(_ReceiverFields):
    """What a ``serving_input_receiver_fn`` returns.

    ``features`` go to the model function, always as a dict: a lone tensor is
    wrapped under the key ``feature``. ``receiver_tensors`` are what clients
    feed; each entry of ``receiver_tensors_alternatives`` adds signatures
    named ``ALTERNATIVE:OUTPUT`` that are fed at other points of the graph.
    """

    __slots__ = ()

    def __new__(
        cls,
        features: Any,
        receiver_tensors: Any,
        receiver_tensors_alternatives: dict[str, Any] | None = None,
    ) -> ServingInputReceiver:
        return super().__new__(
            cls,
            _named(features, "feature", int_keys=True),
            _named(receiver_tensors, "receiver_tensor"),
            _checked_alternatives(receiver_tensors_alternatives),
        )


class TensorServingInputReceiver(_ReceiverFields):
    """A serving receiver for models that take one bare tensor, not a dict."""

    __slots__ = ()

    def __new__(
        cls,
        features: Any,
        receiver_tensors: Any,
        receiver_tensors_alternatives: dict[str, Any] | None = None,
    ) -> TensorServingInputReceiver:
        if features is None:
            raise ValueError("features must be defined.")
        _check_tensor(features, None, "feature")
        return super().__new__(
            cls,
            features,
            _named(receiver_tensors, "receiver_tensor"),
            _checked_alternatives(receiver_tensors_alternatives),
        )


class UnsupervisedInputReceiver(ServingInputReceiver):
    """A receiver for training or evaluation exports of models without labels."""

    __slots__ = ()

    def __new__(cls, features: Any, receiver_tensors: Any) -> UnsupervisedInputReceiver:
        receiver = super().__new__(cls, features, receiver_tensors, None)
        assert isinstance(receiver, UnsupervisedInputReceiver)
        return receiver


class _SupervisedFields(NamedTuple):
    features: Any
    labels: Any
    receiver_tensors: dict[str, Any]


class SupervisedInputReceiver(_SupervisedFields):
    """A receiver for training and evaluation exports: features and labels.

    Both reach the model function in the form given here; only the fed tensors
    are put into a dict.
    """

    __slots__ = ()

    def __new__(
        cls, features: Any, labels: Any, receiver_tensors: Any
    ) -> SupervisedInputReceiver:
        _named(features, "feature", int_keys=True)
        _named(labels, "label", int_keys=True)
        return super().__new__(
            cls, features, labels, _named(receiver_tensors, "receiver_tensor")
        )


def build_parsing_serving_input_receiver_fn(
    feature_spec: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """A receiver function that is fed serialized ``tf.Example`` protos.

    The signature's input is called ``examples``; ``feature_spec`` says how
    the protos are parsed.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        examples = tf.placeholder(
            tf.string, shape=[default_batch_size], name="input_example_tensor"
        )
        features = tf.io.parse_example(examples, feature_spec)
        return ServingInputReceiver(features, {"examples": examples})

    return serving_input_receiver_fn


def _placeholder_like(tensor: Any, batch_size: int | None) -> tf.Tensor:
    shape = tf.TensorShape([batch_size]).concatenate(tensor.shape[1:])
    try:
        # The exported input is called like the tensor it stands for.
        name = tensor.op.name
    except AttributeError:  # an eager tensor has no op, and so no name
        name = None
    return tf.placeholder(tensor.dtype, shape=shape, name=name)


def _placeholders_like(
    tensors: Any, lone_name: str, batch_size: int | None
) -> tuple[Any, dict[Any, Any]]:
    """Placeholders in the form of ``tensors``, and the same as a dict."""
    if isinstance(tensors, dict):
        made = {k: _placeholder_like(v, batch_size) for k, v in tensors.items()}
        return made, made
    single = _placeholder_like(tensors, batch_size)
    return single, {lone_name: single}


def build_raw_serving_input_receiver_fn(
    features: Mapping[str, Any], default_batch_size: int | None = None
) -> Callable[[], ServingInputReceiver]:
    """A receiver function that is fed every feature directly.

    ``features`` are tensors of the wanted types and shapes (placeholders will
    do); the first dimension becomes ``default_batch_size``.
    """

    def serving_input_receiver_fn() -> ServingInputReceiver:
        fed = {k: _placeholder_like(v, default_batch_size) for k, v in features.items()}
        return ServingInputReceiver(fed, fed)

    return serving_input_receiver_fn


def _keys(tensors: Any, lone_name: str) -> set[Any]:
    return set(tensors) if isinstance(tensors, dict) else {lone_name}


def build_raw_supervised_input_receiver_fn(
    features: Any, labels: Any, default_batch_size: int | None = None
) -> Callable[[], SupervisedInputReceiver]:
    """A receiver function for training exports, fed features and labels."""
    shared = _keys(features, SINGLE_RECEIVER_NAME) & _keys(labels, SINGLE_LABEL_NAME)
    if shared:
        raise ValueError(
            "Features and labels must have distinct keys. "
            f"Found overlapping keys: {shared}"
        )

    def supervised_input_receiver_fn() -> SupervisedInputReceiver:
        fed_features, feature_map = _placeholders_like(
            features, SINGLE_RECEIVER_NAME, default_batch_size
        )
        fed_labels, label_map = _placeholders_like(
            labels, SINGLE_LABEL_NAME, default_batch_size
        )
        return SupervisedInputReceiver(
            fed_features, fed_labels, {**feature_map, **label_map}
        )

    return supervised_input_receiver_fn


def build_supervised_input_receiver_fn_from_input_fn(
    input_fn: Callable[..., Any], **input_fn_args: Any
) -> Callable[[], SupervisedInputReceiver]:
    """A supervised receiver function with the structure of an ``input_fn``.

    ``input_fn`` is called once in a graph of its own, to learn types and
    shapes; no data is read.
    """
    with tf.Graph().as_default():
        result = input_fn(**input_fn_args)
        if isinstance(result, tf.data.Dataset) or hasattr(result, "element_spec"):
            result = tf.data.make_one_shot_iterator(result).get_next()
        if isinstance(result, (list, tuple)):
            if len(result) != 2:
                raise ValueError(
                    "input_fn should return (features, labels) as a len 2 tuple."
                )
            features, labels = result
        else:
            features, labels = result, None
    return build_raw_supervised_input_receiver_fn(features, labels)
