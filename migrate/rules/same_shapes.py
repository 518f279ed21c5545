"""Calls that TensorFlow 2's function of the same name answers alike.

That of ``tf.where`` broadcasts where TensorFlow 1 took rows: by a vector that chooses
between matrices. Others have defaults, or parts of tables, that are other ones.
"""

from __future__ import annotations

import libcst as cst

from ..code.texts import source_text
from ..names.resolver import Resolver

# The arguments of a call, all of which have to be given, and those that may be.
_ALIKE: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "tf.constant_initializer": (("value",), ()),
    "tf.random_normal_initializer": (("mean", "stddev"), ()),
    "tf.random_uniform_initializer": (("minval", "maxval"), ()),
}
_SAMPLED = ("weights", "biases", "labels", "inputs", "num_sampled", "num_classes")
# These look rows up in one table, or in several, which they deal out otherwise.
_OF_TABLES = {
    "tf.nn.embedding_lookup": (("params", "ids"), ("name",)),
    **{
        f"tf.nn.{name}": (_SAMPLED, ("num_true", "sampled_values", "name"))
        for name in ("nce_loss", "sampled_softmax_loss")
    },
}
_OF_ONE = "abs cast ceil cos exp floor identity is_finite is_inf is_nan log log1p"
_OF_ONE += " logical_not negative ones_like round rsqrt sigmoid sign sin softplus sqrt"
_OF_ONE += " square stop_gradient tanh zeros_like"
_OF_TWO = "add divide equal greater greater_equal less less_equal logical_and"
_OF_TWO += " logical_or maximum minimum multiply not_equal pow subtract"
_OPERANDS = {**dict.fromkeys(_OF_ONE.split(), 1), **dict.fromkeys(_OF_TWO.split(), 2)}


def means_the_same(symbol: str, call: cst.Call, text: str) -> bool:
    """Whether a call gives what makes the two functions of a name alike."""
    tables = symbol in _OF_TABLES and "partition" not in text
    if symbol not in _ALIKE and not tables:
        return False
    wanted, more = _ALIKE.get(symbol) or _OF_TABLES[symbol]
    plain = [one for one in call.args if one.keyword is None]
    named = {one.keyword.value for one in call.args if one.keyword is not None}
    if len(plain) > len(wanted) or any(one.star for one in call.args):
        return False
    first = call.args[0].value if call.args else None
    if tables and isinstance(first, (cst.List, cst.Tuple)):
        return False
    if symbol == "tf.constant_initializer" and not isinstance(first, cst.BaseNumber):
        return False  # of too few values TensorFlow 1 repeated the last one
    given = {*wanted[: len(plain)], *named}
    return given >= {*wanted} and given <= {*wanted, *more}


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
