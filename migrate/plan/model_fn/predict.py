"""The predictions of a model_fn: what its spec for PREDICT gives."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ..code.arguments import is_none
from ..code.statements import backward_slice, latest, loads, own_statements
from ..code.tree import Statement, Tree, only_small
from ..program import PredictPlan
from .sections import Sections

__all__ = ["dict_like", "read_predictions"]


def dict_like(
    tree: Tree,
    statements: Sequence[Statement],
    node: cst.BaseExpression,
    depth: int = 0,
) -> bool | None:
    """Whether an expression gives a dict, or None where that is not seen."""
    value = latest(tree, statements, node)
    if isinstance(value, (cst.Dict, cst.DictComp)):
        return True
    if not isinstance(value, cst.Call):
        return None if isinstance(value, (cst.IfExp, cst.Subscript)) else False
    if tree.code(value.func) in ("dict", "OrderedDict", "collections.OrderedDict"):
        return True
    defined = tree.resolver.definition(value.func)
    if tree.symbol(value.func) is not None:
        return False
    if isinstance(defined, cst.FunctionDef) and depth < 6:
        body = list(own_statements(defined))
        returned = [
            dict_like(tree, body, small.value, depth + 1)
            for small in map(only_small, body)
            if isinstance(small, cst.Return) and small.value is not None
        ]
        return returned[0] if len(set(returned)) == 1 else None
    # A layer, or a method of a tensor.
    return None if isinstance(value.func, cst.Name) and defined is not None else False


def read_predictions(
    sections: Sections, statements: list[Statement], call: cst.Call
) -> PredictPlan:
    """The predictions: a dict that is written out, or a tensor."""
    tree = sections.tree
    node = sections.modes.spec(call).get("predictions")
    if node is None or is_none(node):
        raise sections.source.stop(call, "no predictions")
    is_dict = dict_like(tree, statements, node)
    if is_dict is None:
        reason = "whether the predictions are a dict is not seen"
        raise sections.source.stop(node, reason)
    wanted = backward_slice(tree, statements, loads(tree, node))
    for statement in wanted:
        sections.check(statement)
    lines = [sections.code(s, "PREDICT") for s in wanted]
    code = sections.expression(node, "PREDICT")
    return PredictPlan(tuple(lines), code, is_dict)
