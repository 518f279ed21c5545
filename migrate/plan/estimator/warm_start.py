"""Checkpoints of TF1 that a model_fn starts from, and what else it does to its graph.

Such code goes by the names that TF1 gave the variables, which a loop of its own does
not keep.
"""

from __future__ import annotations

import libcst as cst

from ..code.reach import reachable
from ..model_fn.source import Source

__all__ = ["BY_NAME", "INIT", "check_effects"]

BY_NAME = "a checkpoint is loaded by the names that TF1 gave the variables"

INIT = (
    "tf.train.init_from_checkpoint",
    "tf.contrib.framework.init_from_checkpoint",
)
# What a model_fn does to its graph besides what its spec holds.
_EFFECTS = (
    *INIT,
    "tf.contrib.framework.assign_from_checkpoint",
    "tf.contrib.framework.assign_from_checkpoint_fn",
    "tf.contrib.slim.assign_from_checkpoint",
    "tf.contrib.slim.assign_from_checkpoint_fn",
    "tf.losses.add_loss",
    "tf.train.Saver",
    "tf.train.warm_start",
)


def check_effects(source: Source) -> None:
    """Blocked where a model_fn does something that no part of a loop would do."""
    tree = source.tree
    for node in reachable(tree, [source.defined.body]):
        if not isinstance(node, cst.Call):
            continue
        symbol = tree.symbol(node.func)
        if symbol in INIT:
            raise source.stop(node, BY_NAME)
        if symbol in _EFFECTS:
            raise source.stop(node, f"`{symbol}` has no loop equivalent yet")
