"""Calls of ``tf.where`` that TensorFlow 2's function of the name answers alike.

It broadcasts where TensorFlow 1 took rows: by a vector that chooses between matrices.
"""

from __future__ import annotations

import libcst as cst

from ..code.texts import source_text
from ..names.resolver import Resolver

_OF_ONE = "abs cast ceil cos exp floor identity is_finite is_inf is_nan log log1p"
_OF_ONE += " logical_not negative ones_like round rsqrt sigmoid sign sin softplus sqrt"
_OF_ONE += " square stop_gradient tanh zeros_like"
_OF_TWO = "add divide equal greater greater_equal less less_equal logical_and"
_OF_TWO += " logical_or maximum minimum multiply not_equal pow subtract"
_OPERANDS = {**dict.fromkeys(_OF_ONE.split(), 1), **dict.fromkeys(_OF_TWO.split(), 2)}


def chooses_alike(call: cst.Call, resolver: Resolver) -> bool:
    """Whether the condition has the shape of what it chooses from, or that is nothing.

    TensorFlow 1 wanted one shape of both values.
    """
    if any(one.keyword is not None or one.star for one in call.args[:3]):
        return False
    condition, *values = (_sizes(one.value, resolver) for one in call.args[:3])
    return not values or (len(values) == 2 and condition in values)


def _sizes(node: cst.BaseExpression, resolver: Resolver) -> frozenset[str]:
    """What the shape of an expression follows from, that of each element alike."""
    if isinstance(node, cst.BaseNumber):
        return frozenset()
    parts: list[cst.BaseExpression] = []
    if isinstance(node, cst.UnaryOperation):
        parts = [node.expression]
    elif isinstance(node, cst.BinaryOperation):
        matrices = isinstance(node.operator, cst.MatrixMultiply)
        parts = [] if matrices else [node.left, node.right]
    elif isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
        parts = [node.left, node.comparisons[0].comparator]
    elif isinstance(node, cst.Call):
        name = (resolver.resolve(node.func) or "").removeprefix("tf.")
        count = _OPERANDS.get(name.removeprefix("math.").removeprefix("nn."), 0)
        plain = all(one.keyword is None and not one.star for one in node.args[:count])
        parts = [one.value for one in node.args[:count]] if plain else []
    if parts:
        return frozenset().union(*(_sizes(one, resolver) for one in parts))
    return frozenset([source_text(node.with_changes(lpar=[], rpar=[]))])
