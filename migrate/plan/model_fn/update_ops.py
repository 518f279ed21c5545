"""What a train_op waits for: the UPDATE_OPS of the layers, other updates."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ..code.statements import binds, flat, latest
from ..code.tree import Statement, Tree, only_small, statements_of

__all__ = ["is_update_collection", "moves_variables", "of_both_branches"]

_TRAINS = ("minimize", "apply_gradients")
_ASSIGNS = ("assign", "scatter_")


def moves_variables(tree: Tree, call: cst.Call) -> bool:
    """The call makes an operation that changes variables."""
    symbol = tree.symbol(call.func)
    if symbol is not None:
        name = symbol.rpartition(".")[2]
        return name == "optimize_loss" or name.startswith(_ASSIGNS)
    if not isinstance(call.func, cst.Attribute):
        return False
    name = call.func.attr.value
    return name in _TRAINS or name.startswith(_ASSIGNS)


def is_update_collection(tree: Tree, value: cst.BaseExpression | None) -> bool:
    """``tf.get_collection(tf.GraphKeys.UPDATE_OPS)``."""
    return (
        isinstance(value, cst.Call)
        and tree.symbol(value.func) == "tf.get_collection"
        and bool(value.args)
        and (tree.symbol(value.args[0].value) or "").endswith("UPDATE_OPS")
    )


def of_both_branches(
    tree: Tree, statements: Sequence[Statement], name: str
) -> cst.BaseExpression | None:
    """The value of a train_op that both branches of an ``if`` make alike.

    One of them waits for the UPDATE_OPS, where there are any; a loop has them anyway.
    """
    last = next((s for s in reversed(statements) if name in binds(s)), None)
    other = last.orelse if isinstance(last, cst.If) else None
    if not isinstance(last, cst.If) or not isinstance(other, cst.Else):
        return None
    found = []
    for block in (last.body, other.body):
        if not isinstance(block, cst.IndentedBlock):
            return None
        inner = list(flat(statements_of(block)))
        value = latest(tree, inner, cst.Name(name))
        for statement in inner:
            small = only_small(statement)
            known = isinstance(small, cst.Assign) and (
                small.value is value or is_update_collection(tree, small.value)
            )
            if not known and not _waits(tree, statement, inner):
                return None
        found.append(value)
    same = {tree.code(value) for value in found if value is not None}
    return found[0] if len(same) == 1 and None not in found else None


def _waits(tree: Tree, statement: Statement, around: Sequence[Statement]) -> bool:
    """``with tf.control_dependencies(update_ops)``."""
    if not isinstance(statement, cst.With) or len(statement.items) != 1:
        return False
    call = statement.items[0].item
    if (
        not isinstance(call, cst.Call)
        or tree.symbol(call.func) != "tf.control_dependencies"
        or len(call.args) != 1
    ):
        return False
    return is_update_collection(tree, latest(tree, around, call.args[0].value))
