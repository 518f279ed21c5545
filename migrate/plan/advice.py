"""What to do about a program that cannot become a loop as it is written."""

from __future__ import annotations

import libcst as cst

from .program import Blocker
from .tree import Tree, walk

__all__ = ["Stop", "advised"]

# The place of a note, and why it is there.
Stop = tuple[cst.CSTNode, Blocker]

_EXPERIMENTS = (
    "tf.contrib.learn.Experiment",
    "tf.contrib.learn.learn_runner.run",
)
_ESTIMATORS = ("tf.estimator.Estimator", "tf.contrib.tpu.TPUEstimator")


def advised(tree: Tree, stops: list[Stop]) -> list[Stop]:
    """The same stops, or one that tells what shape of program is in the way."""
    for node in walk(tree.module):
        if isinstance(node, cst.Call) and tree.symbol(node.func) in _EXPERIMENTS:
            reason = (
                f"`{tree.code(node.func)}` has no loop: call "
                "tf.estimator.train_and_evaluate(estimator, TrainSpec, EvalSpec) "
                "instead of it, and rewrite again"
            )
            return [(stop, _told(tree, node, reason)) for stop, _ in stops[:1]]
        if isinstance(node, cst.ClassDef) and any(
            tree.symbol(base.value) in _ESTIMATORS for base in node.bases
        ):
            reason = (
                f"`{node.name.value}` is a class of its own derived from an Estimator: "
                "give its model_fn to tf.estimator.Estimator in a function that "
                "returns it, and rewrite again"
            )
            return [(stop, _told(tree, node, reason)) for stop, _ in stops[:1]]
    return stops


def _told(tree: Tree, node: cst.CSTNode, reason: str) -> Blocker:
    return Blocker("TFM103", tree.line(node), reason)
