"""The predictions of a model_fn: what its spec for PREDICT gives."""

from __future__ import annotations

import libcst as cst

from .arguments import is_none
from .model_fn_sections import Sections
from .program import PredictPlan
from .statements import backward_slice, latest, loads
from .tree import Statement

__all__ = ["read_predictions"]


def read_predictions(
    sections: Sections, statements: list[Statement], call: cst.Call
) -> PredictPlan:
    """The predictions: a dict that is written out, or a tensor."""
    tree = sections.tree
    node = sections.modes.spec(call).get("predictions")
    if node is None or is_none(node):
        raise sections.source.stop(call, "no predictions")
    value = latest(tree, statements, node)
    is_dict = isinstance(value, cst.Dict)
    wanted = backward_slice(tree, statements, loads(tree, node))
    for statement in wanted:
        sections.check(statement)
    lines = [sections.code(s, "PREDICT", statements) for s in wanted]
    code = sections.expression(node, "PREDICT", statements)
    return PredictPlan(tuple(lines), code, is_dict)
