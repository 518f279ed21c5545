"""Whether a value follows from a batch alone: no gradient reaches a variable by it."""

from __future__ import annotations

import libcst as cst

from .arguments import UnknownArguments, match_arguments
from .pure import is_pure
from .tree import Tree

# Numbers of classes and truth values have no gradient.
_WHOLE = frozenset(
    ["tf.argmax", "tf.equal", "tf.one_hot", "tf.to_int32", "tf.to_int64"]
)


def is_data(tree: Tree, node: cst.BaseExpression | None, depth: int = 0) -> bool:
    """Whether an expression is made of features and labels; False where unknown."""
    if depth > 6:
        return False
    node = tree.value(node)
    if isinstance(node, (cst.List, cst.Tuple)):
        return all(is_data(tree, one.value, depth + 1) for one in node.elements)
    if isinstance(node, cst.Attribute) and tree.symbol(node) is not None:
        return True  # a type
    if isinstance(node, cst.Name):
        bound = tree.resolver.bindings(node)
        return len(bound) == 1 and _is_given(tree, bound[0].node, node.value, depth)
    if isinstance(node, (cst.Subscript, cst.Attribute, cst.UnaryOperation)):
        inside = node.expression if isinstance(node, cst.UnaryOperation) else node.value
        return is_data(tree, inside, depth + 1)
    if isinstance(node, cst.BinaryOperation):
        parts = node.left, node.right
        return all(is_data(tree, one, depth + 1) for one in parts)
    if isinstance(node, cst.Call):
        symbol = tree.symbol(node.func) or ""
        return symbol in _WHOLE or (
            is_pure(symbol)
            and all(is_data(tree, one.value, depth + 1) for one in node.args)
        )
    return isinstance(node, (cst.BaseNumber, cst.BaseString, cst.Comparison))


def _is_given(tree: Tree, binding: cst.CSTNode, name: str, depth: int) -> bool:
    """Whether a parameter gets nothing but data: a model_fn's, or by all its calls."""
    function = tree.function(binding) if isinstance(binding, cst.Param) else binding
    if not isinstance(function, cst.FunctionDef):
        return False
    names = tuple(one.name.value for one in function.params.params)
    if name not in names:
        return False
    if "mode" in names and name in ("features", "labels", "params"):
        return True
    loads = tree.loads_of(function)
    if names[0] in ("self", "cls") or not loads:
        # Called elsewhere: its name has to say it.
        return "label" in name or "target" in name
    for load in loads:
        call = tree.parent(load)
        if not isinstance(call, cst.Call) or call.func is not load:
            return False
        try:
            given = match_arguments(call, names)
        except UnknownArguments:
            return False
        if not is_data(tree, given.get(name), depth + 1):
            return False
    return True
