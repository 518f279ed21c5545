"""Parts of input pipelines that went with tf.contrib, as TF2 has them.

Tables are eager objects now: they fill themselves when they are made.
"""

from __future__ import annotations

import libcst as cst

from ..plan.arguments import UnknownArguments, match_arguments
from ..plan.tables import TABLES, table_code
from ..plan.tree import Tree, walk

__all__ = ["gone_inputs"]


def _drop_remainder(tree: Tree, call: cst.Call) -> str | None:
    size = match_arguments(call, ("batch_size",)).get("batch_size")
    shown = "" if size is None else tree.code(size)
    return f"lambda batches: batches.batch({shown}, drop_remainder=True)"


_DROP_REMAINDER = "tf.contrib.data.batch_and_drop_remainder"


def gone_inputs(tree: Tree) -> list[tuple[cst.Call, str]]:
    """Calls that TF2 spells differently, each with its new source text."""
    found = []
    for node in walk(tree.module):
        if not isinstance(node, cst.Call):
            continue
        symbol = tree.symbol(node.func)
        try:
            if symbol == _DROP_REMAINDER:
                code = _drop_remainder(tree, node)
            elif symbol in TABLES:
                code = table_code(tree, node, tree.code)
            else:
                continue
        except UnknownArguments:
            continue
        if code is not None:
            found.append((node, code))
    return found
