"""Outputs that a network files in a collection, under the names of their layers."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import tensorflow.compat.v1 as tf

__all__ = [
    "append_tensor_alias",
    "append_tensor_aliases",
    "collect_named_outputs",
    "convert_collection_to_dict",
    "gather_tensors_aliases",
    "get_tensor_aliases",
]


def collect_named_outputs(collections: Any, alias: str, outputs: Any) -> Any:
    """File outputs in collections under a name; the outputs again."""
    if collections:
        append_tensor_alias(outputs, alias)
        names = [collections] if isinstance(collections, str) else collections
        tf.add_to_collections(names, outputs)
    return outputs


def append_tensor_alias(tensor: Any, alias: str) -> Any:
    """Give a tensor one more name; the end of a name scope is not part of it."""
    return append_tensor_aliases(tensor, [alias.removesuffix("/")])


def append_tensor_aliases(tensor: Any, aliases: Any) -> Any:
    """Give a tensor more names."""
    tensor.aliases = [*getattr(tensor, "aliases", ()), *aliases]
    return tensor


def get_tensor_aliases(tensor: Any) -> list[str]:
    """The names a tensor was given, or else its own."""
    if hasattr(tensor, "aliases"):
        return list(tensor.aliases)
    return [tensor.op.name if tensor.name.endswith(":0") else tensor.name]


def gather_tensors_aliases(tensors: Any) -> list[str]:
    """The names of several tensors, in their order."""
    return [name for tensor in tensors for name in get_tensor_aliases(tensor)]


def convert_collection_to_dict(
    collection: str, clear_collection: bool = False
) -> OrderedDict[str, Any]:
    """What is in a collection, by name, in the order of filing."""
    filed = tf.get_collection(collection)
    found = OrderedDict((n, one) for one in filed for n in get_tensor_aliases(one))
    if clear_collection:
        tf.get_default_graph().clear_collection(collection)
    return found
