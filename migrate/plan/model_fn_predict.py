"""The predictions of a model_fn: what its spec for PREDICT gives."""

from __future__ import annotations

import libcst as cst

from .model_fn_losses import Losses
from .model_fn_modes import Modes
from .model_fn_source import Source
from .program import PredictPlan
from .statements import backward_slice, latest, names_in
from .tree import Statement

__all__ = ["read_predictions"]


def read_predictions(
    source: Source, modes: Modes, statements: list[Statement], call: cst.Call
) -> PredictPlan:
    """The predictions, which must be a dict that is written out, or a tensor."""
    given = modes.spec(call)
    node = given.get("predictions")
    if node is None:
        raise source.stop(call, "no predictions")
    losses = Losses(source)
    wanted = backward_slice(source.tree, statements, names_in(source.tree.code(node)))
    for statement in wanted:
        losses.check(statement)
    value = latest(source.tree, statements, node)
    lines = [losses.code(s) for s in wanted]
    return PredictPlan(
        tuple(lines), source.tree.code(node), isinstance(value, cst.Dict)
    )
