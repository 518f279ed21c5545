"""Early stopping given to a plain ``train``: what its hook could see.

The hook reads evaluations from the event files of the model directory. While
``train`` runs, nothing evaluates; so it only ever saw evaluations of before.
"""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from ..code.tree import Tree
from ..hooks.stock import MODEL_DIR
from ..program import CallKind, Difference, EstimatorCall, RunConfigPlan
from ..sites import Blocked
from .places import Place

__all__ = ["settle_early_stopping"]

_RULE = "TFM137"


def settle_early_stopping(
    tree: Tree,
    place: Place,
    config: RunConfigPlan,
    calls: list[tuple[EstimatorCall, cst.Call]],
    differences: list[Difference],
) -> None:
    """Drop hooks of ``train`` that never saw a figure; Blocked for the others."""
    for plan, _ in calls:
        if plan.stock.save_dir not in (None, MODEL_DIR, config.model_dir):
            reason = "`CheckpointSaverHook` writes into a directory of its own"
            raise Blocked("TFM116", plan.line, reason)
    for index, (plan, call) in enumerate(calls):
        if plan.kind != CallKind.TRAIN or not plan.stock.evaluated:
            continue
        if config.model_dir is not None:
            reason = (
                "early stopping without train_and_evaluate reads evaluations of "
                "earlier runs from the model directory"
            )
            raise Blocked("TFM116", plan.line, reason)
        trains = [c for c, _ in calls if c.kind in CallKind.TRAINING]
        alone = tree.body(tree.statement(call)) is place.body
        if len(trains) > 1 or not alone or place.travels:
            reason = (
                "early stopping without train_and_evaluate reads evaluations "
                "between several calls of train"
            )
            raise Blocked("TFM116", plan.line, reason)
        stock = replace(plan.stock, no_change=(), crossed=())
        calls[index] = (replace(plan, stock=stock), call)
        differences[:] = [d for d in differences if d.rule != _RULE]
        differences.append(
            Difference(
                _RULE,
                plan.line,
                "the hook for early stopping is left out: no evaluation ran beside "
                "this `train`, so it never stopped it",
                needs_review=True,
            )
        )
