"""Which functions of a program are model functions."""

from __future__ import annotations

import libcst as cst

from ...code.tree import walk

# It gives features and targets by position: they may have any name.


def is_model_fn(node: cst.CSTNode) -> bool:
    """A function with the arguments of a model function, that does something."""
    if type(node) is not cst.FunctionDef or node.name.value == "__init__":
        return False
    if not isinstance(node.body, cst.IndentedBlock):
        return False
    given = (*node.params.params, *node.params.kwonly_params)
    names = {one.name.value for one in given}
    if _is_abstract(node.body):
        return False
    # A model without targets need not take any.
    return {"features", "labels", "mode"} <= names or (
        {"features", "mode"} <= names and _specifies(node)
    )


def _specifies(node: cst.FunctionDef) -> bool:
    """It makes a specification."""
    return any(
        isinstance(one.func, (cst.Name, cst.Attribute))
        and (
            one.func.attr if isinstance(one.func, cst.Attribute) else one.func
        ).value.endswith("EstimatorSpec")
        for one in walk(node.body, cst.Call)
    )


def _is_abstract(body: cst.IndentedBlock) -> bool:
    """Nothing but a text and an exception: classes that derive from it say more."""
    *before, last = body.body
    return (
        isinstance(last, cst.SimpleStatementLine)
        and isinstance(last.body[-1], cst.Raise)
        and all(
            isinstance(one, cst.SimpleStatementLine)
            and isinstance(one.body[0], cst.Expr)
            and isinstance(
                one.body[0].value, (cst.SimpleString, cst.ConcatenatedString)
            )
            for one in before
        )
    )
