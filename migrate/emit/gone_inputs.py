"""Parts of input pipelines that went with tf.contrib, as TF2 has them.

Tables are eager objects now: they fill themselves when they are made.
"""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from ..plan.arguments import UnknownArguments, is_none, match_arguments
from ..plan.program import TF
from ..plan.tree import Tree, walk

__all__ = ["gone_inputs"]

_FROM_TENSOR = (
    "mapping",
    "num_oov_buckets",
    "default_value",
    "hasher_spec",
    "dtype",
    "name",
)
_FROM_FILE = (
    "vocabulary_file",
    "num_oov_buckets",
    "vocab_size",
    "default_value",
    "hasher_spec",
    "key_dtype",
    "name",
)
_TO_STRING = ("mapping", "default_value", "name")


class _Call:
    def __init__(self, tree: Tree, call: cst.Call, parameters: tuple[str, ...]) -> None:
        self.tree = tree
        self.given = match_arguments(call, parameters)

    def text(self, name: str, default: str) -> str:
        node = self.given.get(name)
        return default if node is None else self.tree.code(node)

    def has(self, *names: str) -> bool:
        return any(not is_none(self.given.get(name)) for name in names)

    def mapping(self) -> str:
        """The vocabulary; its own list where it is wrapped in ``tf.constant``."""
        node = self.given["mapping"]
        if (
            isinstance(node, cst.Call)
            and self.tree.symbol(node.func) == "tf.constant"
            and len(node.args) == 1
        ):
            node = node.args[0].value
        return self.tree.code(node)

    def table(self, initializer: str) -> str:
        """Without buckets for unknown words, or with."""
        buckets = self.text("num_oov_buckets", "0")
        if buckets == "0":
            default = self.text("default_value", "-1")
            return f"{TF}.lookup.StaticHashTable({initializer}, {default})"
        return f"{TF}.lookup.StaticVocabularyTable({initializer}, {buckets})"


def _from_tensor(tree: Tree, call: cst.Call) -> str | None:
    found = _Call(tree, call, _FROM_TENSOR)
    if found.has("hasher_spec", "dtype") or "mapping" not in found.given:
        return None
    words = found.mapping()
    numbers = f"{TF}.range(len({words}), dtype={TF}.int64)"
    return found.table(f"{TF}.lookup.KeyValueTensorInitializer({words}, {numbers})")


def _from_file(tree: Tree, call: cst.Call) -> str | None:
    found = _Call(tree, call, _FROM_FILE)
    if found.has("hasher_spec", "key_dtype", "vocab_size"):
        return None
    if "vocabulary_file" not in found.given:
        return None
    file = found.text("vocabulary_file", "")
    index = f"{TF}.lookup.TextFileIndex"
    return found.table(
        f"{TF}.lookup.TextFileInitializer({file}, {TF}.string, {index}.WHOLE_LINE, "
        f"{TF}.int64, {index}.LINE_NUMBER)"
    )


def _to_string(tree: Tree, call: cst.Call) -> str | None:
    found = _Call(tree, call, _TO_STRING)
    if "mapping" not in found.given:
        return None
    words = found.mapping()
    numbers = f"{TF}.range(len({words}), dtype={TF}.int64)"
    initializer = f"{TF}.lookup.KeyValueTensorInitializer({numbers}, {words})"
    default = found.text("default_value", '"UNK"')
    return f"{TF}.lookup.StaticHashTable({initializer}, {default})"


def _drop_remainder(tree: Tree, call: cst.Call) -> str | None:
    found = _Call(tree, call, ("batch_size",))
    size = found.text("batch_size", "")
    return f"lambda batches: batches.batch({size}, drop_remainder=True)"


_GONE: dict[str, Callable[[Tree, cst.Call], str | None]] = {
    "tf.contrib.data.batch_and_drop_remainder": _drop_remainder,
    "tf.contrib.lookup.index_table_from_file": _from_file,
    "tf.contrib.lookup.index_table_from_tensor": _from_tensor,
    "tf.contrib.lookup.index_to_string_table_from_tensor": _to_string,
}


def gone_inputs(tree: Tree) -> list[tuple[cst.Call, str]]:
    """Calls that TF2 spells differently, each with its new source text."""
    found = []
    for node in walk(tree.module):
        if not isinstance(node, cst.Call):
            continue
        maker = _GONE.get(tree.symbol(node.func) or "")
        if maker is None:
            continue
        try:
            code = maker(tree, node)
        except UnknownArguments:
            continue
        if code is not None:
            found.append((node, code))
    return found
