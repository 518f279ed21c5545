"""Input functions: which expression gives the Dataset they served."""

from __future__ import annotations

import libcst as cst

from .program import InputPlan
from .sites import Blocked
from .tree import Tree, walk

__all__ = ["read_input"]

_PARTIALS = ("functools.partial",)
_ITERATORS = ("make_one_shot_iterator", "make_initializable_iterator", "get_next")


def read_input(tree: Tree, node: cst.BaseExpression) -> InputPlan:
    """The Dataset expression behind an ``input_fn`` argument."""
    value = tree.value(node)
    assert value is not None
    line = tree.line(node)
    if isinstance(value, cst.Lambda):
        if value.params.params or value.params.star_kwarg:
            raise Blocked("TFM115", line, "the input function takes parameters")
        _check_returns_dataset(tree, value.body, line)
        return InputPlan(tree.code(value.body))
    if isinstance(value, cst.Call):
        if tree.resolver.qualified(value.func) in _PARTIALS and value.args:
            function = value.args[0].value
            _check_returns_dataset(tree, value, line, function=function)
            rest = value.with_changes(func=function, args=value.args[1:])
            return InputPlan(tree.code(rest))
        raise Blocked("TFM115", line, "the input function is made by another function")
    defined = tree.resolver.definition(node)
    if isinstance(defined, cst.FunctionDef):
        parameters = defined.params
        needed = [p for p in parameters.params if p.default is None]
        if needed:
            name = needed[0].name.value
            raise Blocked("TFM115", line, f"the input function needs `{name}`")
        _check_function(tree, defined, line)
        return InputPlan(f"{tree.code(node)}()")
    raise Blocked("TFM115", line, "the input function is defined somewhere else")


def _check_returns_dataset(
    tree: Tree,
    node: cst.BaseExpression,
    line: int,
    *,
    function: cst.BaseExpression | None = None,
) -> None:
    """The expression must be a call of a function that is seen to be plain."""
    if function is None and isinstance(node, cst.Call):
        function = node.func
    if isinstance(function, cst.Name):
        defined = tree.resolver.definition(function)
        if isinstance(defined, cst.FunctionDef):
            _check_function(tree, defined, line)
            return
    if function is not None:
        # A method chain on tf.data: Dataset.from_tensor_slices(...).batch(...)
        root: cst.BaseExpression = function
        while isinstance(root, (cst.Attribute, cst.Call)):
            if isinstance(root, cst.Call) and isinstance(root.func, cst.Name):
                made = tree.resolver.definition(root.func)
                if isinstance(made, cst.FunctionDef):
                    _check_function(tree, made, line)
                    _check_nodes(node, line)
                    return
            symbol = tree.symbol(root)
            if symbol is not None and symbol.startswith("tf.data."):
                _check_nodes(node, line)
                return
            root = root.value if isinstance(root, cst.Attribute) else root.func
    raise Blocked("TFM115", line, "the input function is defined somewhere else")


def _check_function(tree: Tree, defined: cst.FunctionDef, line: int) -> None:
    _check_nodes(defined, line)
    returns = [n for n in walk(defined.body) if isinstance(n, cst.Return)]
    if not returns:
        raise Blocked("TFM115", line, "the input function returns nothing")
    for found in returns:
        if isinstance(found.value, cst.Tuple):
            raise Blocked(
                "TFM115", line, "the input function returns tensors, not a Dataset"
            )


def _check_nodes(root: cst.CSTNode, line: int) -> None:
    for node in walk(root):
        if isinstance(node, cst.Name) and node.value in _ITERATORS:
            raise Blocked(
                "TFM115",
                line,
                f"the input function takes tensors from an iterator (`{node.value}`)",
            )
