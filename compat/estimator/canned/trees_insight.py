"""What a grown ensemble says: importances of features, reasons of predictions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

__all__ = ["contributions", "feature_importances"]

_FLOAT = descriptor_pb2.FieldDescriptorProto.TYPE_FLOAT
_INT32 = descriptor_pb2.FieldDescriptorProto.TYPE_INT32
_MESSAGE = descriptor_pb2.FieldDescriptorProto.TYPE_MESSAGE
_PACKAGE = "tfmigrate.boosted_trees"

# The fields read here, of the messages that the kernels write. TensorFlow no
# longer ships their Python classes. (name, number, type or message, repeated)
_MESSAGES: dict[str, tuple[tuple[str, int, Any, bool], ...]] = {
    "Metadata": (("gain", 1, _FLOAT, False),),
    "Split": (("feature_id", 1, _INT32, False),),
    "Node": (
        ("bucketized_split", 2, "Split", False),
        ("metadata", 777, "Metadata", False),
    ),
    "Tree": (("nodes", 1, "Node", True),),
    "TreeEnsemble": (("trees", 1, "Tree", True), ("tree_weights", 2, _FLOAT, True)),
    "DebugOutput": (("feature_ids", 1, _INT32, True), ("logits_path", 2, _FLOAT, True)),
}


@functools.cache
def _message_class(name: str) -> Any:
    file = descriptor_pb2.FileDescriptorProto(
        name=f"{_PACKAGE}.proto", package=_PACKAGE, syntax="proto3"
    )
    for message_name, fields in _MESSAGES.items():
        message = file.message_type.add(name=message_name)
        for field_name, number, kind, repeated in fields:
            field = message.field.add(name=field_name, number=number)
            field.label = field.LABEL_REPEATED if repeated else field.LABEL_OPTIONAL
            if isinstance(kind, str):
                field.type = _MESSAGE
                field.type_name = f".{_PACKAGE}.{kind}"
            else:
                field.type = kind
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    descriptor = pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")
    return message_factory.GetMessageClass(descriptor)


def _by_column(names: Sequence[str], values: Iterable[float]) -> dict[str, float]:
    """Sums per column name, the largest in size first."""
    total: dict[str, float] = {}
    for name, value in zip(names, values, strict=True):
        total[name] = total.get(name, 0) + value
    return dict(sorted(total.items(), key=lambda item: abs(item[1]), reverse=True))


def feature_importances(
    serialized: bytes, names: Sequence[str], *, normalize: bool
) -> dict[str, float]:
    """Gain of all splits on each column, weighted like the trees."""
    if not serialized:
        raise ValueError(
            "Found empty serialized string for TreeEnsemble. You should only call this "
            "method after training."
        )
    ensemble = _message_class("TreeEnsemble").FromString(serialized)
    importances = np.zeros(len(names))
    for tree, weight in zip(ensemble.trees, ensemble.tree_weights, strict=True):
        for node in tree.nodes:
            if node.HasField("bucketized_split"):
                gain = node.metadata.gain * weight
                importances[node.bucketized_split.feature_id] += gain
    if normalize:
        total = importances.sum()
        if not (importances >= 0).all() or total <= 0:
            raise ValueError("Trees are all empty or contain only a root node.")
        importances = importances / total
    return _by_column(names, importances)


def contributions(
    serialized: bytes, names: Sequence[str], *, is_classification: bool
) -> tuple[float, dict[str, float]]:
    """The bias of a prediction and what each column added to it."""
    output = _message_class("DebugOutput").FromString(serialized)
    activation: Callable[[Any], Any] = _sigmoid if is_classification else np.array
    path = activation(output.logits_path)
    steps = np.bincount(
        np.asarray(output.feature_ids, dtype=np.int64),
        weights=path[1:] - path[:-1],
        minlength=len(names),
    )
    return path[0], _by_column(names, steps)


def _sigmoid(logits: Any) -> Any:
    return 1 / (1 + np.exp(-np.array(logits)))
