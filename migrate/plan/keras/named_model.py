"""A Keras model made inside of the call that takes it, said with a name.

``model_to_estimator(create_model())`` and ``model = create_model()`` with
``model_to_estimator(model)`` below mean the same.
"""

from __future__ import annotations

import libcst as cst

from ..code.tree import Statement, Tree, statements_of, walk

__all__ = ["with_named_model"]

_NAMES = ("model", "keras_model", "net")


def with_named_model(tree: Tree, call: cst.Call) -> cst.Module | None:
    """The module with the model on a line of its own, or None where it has one."""
    given = _model(call)
    if given is None or not isinstance(given.value, cst.Call):
        return None
    statement = tree.statement(call)
    body = tree.body(statement)
    plain = (cst.Assign, cst.AnnAssign, cst.Return, cst.Expr)
    if (
        body is None
        or not isinstance(statement, cst.SimpleStatementLine)
        or len(statement.body) != 1
        or not isinstance(statement.body[0], plain)
        or any(isinstance(node, (cst.Lambda, cst.CompFor)) for node in walk(statement))
    ):
        return None
    taken = {n.value for n in tree.nodes if isinstance(n, cst.Name)}
    name = next((name for name in _NAMES if name not in taken), None)
    if name is None:
        return None
    target = cst.AssignTarget(cst.Name(name))
    made = cst.SimpleStatementLine(
        [cst.Assign([target], given.value)], leading_lines=statement.leading_lines
    )
    named = statement.deep_replace(given, given.with_changes(value=cst.Name(name)))
    assert isinstance(named, cst.SimpleStatementLine)
    named = named.with_changes(leading_lines=[])
    statements: list[Statement] = []
    for one in statements_of(body):
        statements += [made, named] if one is statement else [one]
    changed = body.with_changes(body=statements)
    if body is tree.module:
        assert isinstance(changed, cst.Module)
        return changed
    module = tree.module.deep_replace(body, changed)
    assert isinstance(module, cst.Module)
    return module


def _model(call: cst.Call) -> cst.Arg | None:
    for index, argument in enumerate(call.args):
        name = argument.keyword.value if argument.keyword is not None else None
        if not argument.star and (name == "keras_model" or (not name and not index)):
            return argument
    return None
