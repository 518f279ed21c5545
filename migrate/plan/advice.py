"""What to do about a program that cannot become a loop as it is written."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from .code.tree import Tree
from .estimator.legacy import PLAIN_ESTIMATORS
from .program import Blocker, Difference

__all__ = ["Stop", "advised", "checkpoint_readers", "no_loop_for"]

# The place of a note, and why it is there.
Stop = tuple[cst.CSTNode, Blocker]

_EXPERIMENTS = (
    "tf.contrib.learn.Experiment",
    "tf.contrib.learn.learn_runner.run",
)
_READERS = (
    "tf.contrib.framework.list_variables",
    "tf.contrib.framework.load_checkpoint",
    "tf.contrib.framework.load_variable",
    "tf.train.NewCheckpointReader",
    "tf.train.Saver",
    "tf.train.import_meta_graph",
    "tf.train.list_variables",
    "tf.train.load_checkpoint",
    "tf.train.load_variable",
)
_CANNED = ("Baseline", "DNN", "Linear")
_ADVICE = {
    "BoostedTrees": (
        "trees have no counterpart in TF2: train them anew with TensorFlow Decision "
        "Forests"
    ),
    "KMeans": (
        "clustering has no counterpart in TF2: keep it on tfmigrate.compat, or use "
        "scikit-learn's MiniBatchKMeans"
    ),
}

# Reasons that only say that something is in another file.
_ELSEWHERE = (
    "defined somewhere else",
    "belongs to no training program seen here",
    "is never used here",
    "is not called here",
    "is not seen",
    "is passed on",
)


def advised(tree: Tree, stops: list[Stop]) -> list[Stop]:
    """The same stops, or one that tells what is in the way of the whole program."""
    for node in tree.nodes:
        if isinstance(node, cst.Call) and tree.symbol(node.func) in _EXPERIMENTS:
            reason = (
                f"`{tree.code(node.func)}` has no loop: call "
                "tf.estimator.train_and_evaluate(estimator, TrainSpec, EvalSpec) "
                "instead of it, and rewrite again"
            )
            told = Blocker("TFM103", tree.line(node), reason)
            return [(place, told) for place, _ in stops]
        if isinstance(node, cst.ClassDef) and any(
            tree.symbol(base.value) in PLAIN_ESTIMATORS for base in node.bases
        ):
            reason = (
                f"`{node.name.value}` is a class of its own derived from an Estimator: "
                "give its model_fn to tf.estimator.Estimator in a function that "
                "returns it, and rewrite again"
            )
            told = Blocker("TFM103", tree.line(node), reason)
            return [(p, told if _is_elsewhere(stop) else stop) for p, stop in stops]
    return stops


def no_loop_for(symbol: str | None, *, in_place: bool) -> str:
    """Why a kind of Estimator has no native loop, with advice where there is any.

    ``in_place`` says that nothing else than a loop in place was asked for.
    """
    for word, advice in _ADVICE.items():
        if word in (symbol or ""):
            return f"`{symbol}`: {advice}"
    if (symbol or "").rpartition(".")[2].startswith(_CANNED):
        instead = "; use `--style auto`" if in_place else ""
        return f"`{symbol}` comes along as a class on the loop module{instead}"
    return f"no native loop yet for `{symbol}`"


def checkpoint_readers(tree: Tree, gone: Sequence[cst.CSTNode]) -> list[Difference]:
    """Calls that read checkpoints by the names of variables, besides what is gone."""
    found = []
    for node in tree.calls(tree.module, _READERS):
        if any(a in gone for a in tree.ancestors(node)):
            continue
        symbol = tree.symbol(node.func)
        message = (
            f"`{symbol}` finds other names in the loop's checkpoints than in the "
            "Estimator's, and no `global_step`: `tfmigrate checkpoint` lists them"
        )
        found.append(Difference("TFM101", tree.line(node), message, needs_review=True))
    return found


def _is_elsewhere(stop: Blocker) -> bool:
    return any(text in stop.reason for text in _ELSEWHERE)
