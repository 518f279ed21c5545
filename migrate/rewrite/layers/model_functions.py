"""Which functions of a program are model functions."""

from __future__ import annotations

import libcst as cst

from ...code.texts import source_text
from ...code.tree import walk
from ...model.definitions import is_abstract


def is_model_fn(node: cst.CSTNode) -> bool:
    """A function with the arguments of a model function, that does something."""
    if type(node) is not cst.FunctionDef or node.name.value == "__init__":
        return False
    if not isinstance(node.body, cst.IndentedBlock):
        return False
    given = (*node.params.params, *node.params.kwonly_params)
    names = {one.name.value for one in given}
    if is_abstract(node) and any(walk(node.body, cst.Raise)):
        return False  # classes that derive from its own say more
    # A model without targets need not take any.
    return {"features", "labels", "mode"} <= names or (
        {"features", "mode"} <= names and _specifies(node)
    )


def _specifies(node: cst.FunctionDef) -> bool:
    """It makes a specification."""
    return any(
        source_text(one.func).endswith("EstimatorSpec")
        for one in walk(node.body, cst.Call)
    )
