"""Lookup tables of tf.contrib as the objects of tf.lookup, which fill themselves."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from ..code.arguments import is_none, match_arguments
from ..code.tree import Tree
from ..program import TF

__all__ = ["TABLES", "table_code"]

Text = Callable[[cst.BaseExpression], str]

_FROM_TENSOR = "tf.contrib.lookup.index_table_from_tensor"
_FROM_FILE = "tf.contrib.lookup.index_table_from_file"
_TO_STRING = "tf.contrib.lookup.index_to_string_table_from_tensor"
# canonical name -> parameters in order
TABLES: dict[str, tuple[str, ...]] = {
    _FROM_TENSOR: (
        "mapping",
        "num_oov_buckets",
        "default_value",
        "hasher_spec",
        "dtype",
        "name",
    ),
    _FROM_FILE: (
        "vocabulary_file",
        "num_oov_buckets",
        "vocab_size",
        "default_value",
        "hasher_spec",
        "key_dtype",
        "name",
    ),
    _TO_STRING: ("mapping", "default_value", "name"),
}
_UNKNOWN = ("hasher_spec", "dtype", "key_dtype", "vocab_size")


def table_code(tree: Tree, call: cst.Call, text: Text) -> str | None:
    """Source of the table that a call made; None where it has no equivalent.

    ``text`` gives the source of an argument. Raises UnknownArguments.
    """
    symbol = tree.symbol(call.func) or ""
    given = match_arguments(call, TABLES[symbol])
    first = given.get(TABLES[symbol][0])
    if first is None or any(not is_none(given.get(name)) for name in _UNKNOWN):
        return None

    def setting(name: str, default: str) -> str:
        node = given.get(name)
        return default if node is None else text(node)

    table = f"{TF}.lookup.StaticHashTable"
    if symbol == _FROM_FILE:
        index = f"{TF}.lookup.TextFileIndex"
        initializer = (
            f"{TF}.lookup.TextFileInitializer({text(first)}, {TF}.string, "
            f"{index}.WHOLE_LINE, {TF}.int64, {index}.LINE_NUMBER)"
        )
    else:
        words = text(_plain(tree, first))
        numbers = f"{TF}.range(len({words}), dtype={TF}.int64)"
        pairs = (words, numbers)
        if symbol == _TO_STRING:
            pairs = (numbers, words)
        made = ", ".join(pairs)
        initializer = f"{TF}.lookup.KeyValueTensorInitializer({made})"
    if symbol == _TO_STRING:
        default = setting("default_value", '"UNK"')
        return f"{table}({initializer}, {default})"
    buckets = setting("num_oov_buckets", "0")
    if buckets == "0":
        return f"{table}({initializer}, {setting('default_value', '-1')})"
    return f"{TF}.lookup.StaticVocabularyTable({initializer}, {buckets})"


def _plain(tree: Tree, node: cst.BaseExpression) -> cst.BaseExpression:
    """The vocabulary's own list where it is wrapped in ``tf.constant``."""
    if (
        isinstance(node, cst.Call)
        and tree.symbol(node.func) == "tf.constant"
        and len(node.args) == 1
    ):
        return node.args[0].value
    return node
