"""``keep_prob`` becomes ``rate``: TF2's dropout takes what is dropped.

https://www.tensorflow.org/api_docs/python/tf/nn/dropout
"""

from __future__ import annotations

import ast

import libcst as cst

from ..project.text import Edit
from .base import Diagnosis, SymbolUse
from .changed_arguments import argument
from .context import Context

RULE = "TFM206"


def check(use: SymbolUse, context: Context) -> Diagnosis | None:
    """Turn keep_prob into rate; anything unclear stays exact in compat.v1."""
    message = f"`{use.symbol}` takes the rate to drop, not to keep"
    exact = Diagnosis(
        RULE, message, symbol=use.symbol, target="tf.compat.v1.nn.dropout"
    )
    call = use.call
    if call is None or any(a.star for a in call.args):
        return exact
    if argument(call, "rate", 5) is not None:
        known = {"x", "rate", "noise_shape", "seed", "name"}
        by_keyword = all(
            a.keyword is not None and a.keyword.value in known for a in call.args[1:]
        )
        return None if by_keyword else exact
    keep = argument(call, "keep_prob", 1)
    if keep is None:
        return exact
    edits: list[Edit] = []
    if keep.keyword is not None:
        edits.append(context.replace(keep.keyword, "rate"))
        prefix = ""
    else:
        prefix = "rate="
    for position, arg in enumerate(call.args):
        # Behind a keyword, positions would no longer parse.
        if arg.keyword is None and position > 1:
            if position > 4:
                return exact
            name = ("noise_shape", "seed", "name")[position - 2]
            edits.append(context.insert_before(arg.value, f"{name}="))
    start, end = context.outer_span(keep.value)
    number = _complement(keep.value)
    if number is not None:
        edits.append(Edit(start, end, prefix + number))
    else:
        plain = isinstance(keep.value, cst.Name | cst.Attribute | cst.Subscript)
        first, last = ("", "") if plain or keep.value.lpar else ("(", ")")
        edits.append(Edit(start, start, f"{prefix}1 - {first}"))
        edits.append(Edit(end, end, last))
    return Diagnosis(
        RULE, message, tuple(edits), symbol=use.symbol, target="tf.nn.dropout"
    )


def _complement(node: cst.BaseExpression) -> str | None:
    """``0.9`` -> ``0.1``, in decimal arithmetic so that no digits appear."""
    from decimal import Decimal

    if not isinstance(node, (cst.Float, cst.Integer)):
        return None
    try:
        value = Decimal(str(ast.literal_eval(node.value)))
    except (SyntaxError, ValueError, ArithmeticError):
        return None
    return str(1 - value)
