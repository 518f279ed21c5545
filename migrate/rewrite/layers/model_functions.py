"""Which functions of a program are model functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from ...code.tree import Tree, walk

# It gives features and targets by position: they may have any name.
LEARN_ESTIMATOR = "tf.contrib.learn.Estimator"


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


def handed_to_learn(trees: Sequence[Tree]) -> dict[cst.Call, cst.FunctionDef | None]:
    """Estimators of tf.contrib.learn, and the function that is the model of each.

    None where it cannot be told.
    """
    found: dict[cst.Call, cst.FunctionDef | None] = {}
    for tree in trees:
        for call in tree.calls(tree.module, (LEARN_ESTIMATOR,)):
            given = [
                arg.value
                for place, arg in enumerate(call.args)
                if (arg.keyword is None and place == 0 and not arg.star)
                or (arg.keyword is not None and arg.keyword.value == "model_fn")
            ]
            found[call] = _function(tree, given[0], trees) if given else None
    return found


def _function(
    tree: Tree, node: cst.BaseExpression, trees: Sequence[Tree]
) -> cst.FunctionDef | None:
    if isinstance(node, cst.Call):
        maker = _named(tree, node.func, trees)
        return None if maker is None else _returned(maker)
    return _named(tree, node, trees)


def _named(
    tree: Tree, node: cst.BaseExpression, trees: Sequence[Tree]
) -> cst.FunctionDef | None:
    """The function behind a name, of this file or the only one of another."""
    defined = tree.resolver.definition(node)
    if defined is None and isinstance(node, cst.Name):
        every = [one for other in trees for one in _defined(other, node.value)]
        defined = every[0] if len(every) == 1 else None
    if not isinstance(defined, cst.FunctionDef):
        return None
    return defined if isinstance(defined.body, cst.IndentedBlock) else None


def _defined(tree: Tree, name: str) -> Iterator[cst.FunctionDef]:
    for one in tree.module.body:
        if isinstance(one, cst.FunctionDef) and one.name.value == name:
            yield one


def _returned(maker: cst.FunctionDef) -> cst.FunctionDef | None:
    """The function that another one defines and returns, whichever way it goes."""
    inside = {one.name.value: one for one in walk(maker.body, cst.FunctionDef)}
    own = [
        one
        for one in maker.body.body
        if isinstance(one, cst.SimpleStatementLine)
        and isinstance(one.body[-1], cst.Return)
    ]
    if len(own) != 1:
        return None
    (last,) = (one.body[-1] for one in own)
    value = last.value if isinstance(last, cst.Return) else None
    return inside.get(value.value) if isinstance(value, cst.Name) else None
