"""What to do about a program that cannot become a loop as it is written."""

from __future__ import annotations

from dataclasses import replace

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


# Reasons that only say that something is in another file.
_ELSEWHERE = (
    "defined somewhere else",
    "belongs to no training program seen here",
    "is never used here",
    "is not called here",
    "is not seen",
    "is passed on",
)


def advised(tree: Tree, stops: list[Stop], joined: str | None) -> list[Stop]:
    """The same stops, or one that tells what is in the way of the whole program.

    That is its shape, or, as ``joined`` tells, something in one of its other files.
    """
    for node in walk(tree.module):
        if isinstance(node, cst.Call) and tree.symbol(node.func) in _EXPERIMENTS:
            reason = (
                f"`{tree.code(node.func)}` has no loop: call "
                "tf.estimator.train_and_evaluate(estimator, TrainSpec, EvalSpec) "
                "instead of it, and rewrite again"
            )
            told = Blocker("TFM103", tree.line(node), reason)
            return [(place, told) for place, _ in stops]
        if isinstance(node, cst.ClassDef) and any(
            tree.symbol(base.value) in _ESTIMATORS for base in node.bases
        ):
            reason = (
                f"`{node.name.value}` is a class of its own derived from an Estimator: "
                "give its model_fn to tf.estimator.Estimator in a function that "
                "returns it, and rewrite again"
            )
            told = Blocker("TFM103", tree.line(node), reason)
            return [(p, told if _is_elsewhere(stop) else stop) for p, stop in stops]
    if joined is not None:
        return [
            (node, replace(stop, reason=joined) if _is_elsewhere(stop) else stop)
            for node, stop in stops
        ]
    return stops


def _is_elsewhere(stop: Blocker) -> bool:
    return any(text in stop.reason for text in _ELSEWHERE)
