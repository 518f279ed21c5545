"""Tensors of a model_fn that hooks fetch by the name it gave them."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ..code.statements import binds, latest
from ..code.tree import Statement, only_small
from ..model_fn.sections import LOSSES
from ..model_fn.source import Source
from ..sites import Blocked
from .fetches import named_tensors

__all__ = ["is_number", "read_watched"]

# Without an axis, these give one number.
_WHOLE = ("tf.reduce_max", "tf.reduce_mean", "tf.reduce_min", "tf.reduce_sum")
_SAME = ("tf.abs", "tf.exp", "tf.identity", "tf.log", "tf.sqrt", "tf.square")
_REGULARIZATION = "tf.losses.get_regularization_loss"


def read_watched(
    source: Source, statements: Sequence[Statement], names: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """Each name with the variable that holds its tensor when training."""
    return tuple((name, _Watched(source, statements, name).read()) for name in names)


def is_number(
    source: Source, before: Sequence[Statement], node: cst.BaseExpression
) -> bool:
    """The expression gives a scalar float, as far as can be seen."""
    return _Watched(source, before, "").is_number(node, before)


class _Watched:
    def __init__(
        self, source: Source, statements: Sequence[Statement], name: str
    ) -> None:
        self.source = source
        self.tree = source.tree
        self.statements = list(statements)
        self.name = name

    def stop(self, node: cst.CSTNode, reason: str) -> Exception:
        reason = f"the tensor `{self.name}` of a hook {reason}"
        return Blocked("TFM116", self.tree.line(node), reason)

    def read(self) -> str:
        calls = named_tensors(self.tree, self.name)
        if len(calls) != 1:
            raise self.stop(calls[0], "has its name in several places")
        (call,) = calls
        statement = self.tree.statement(call)
        if statement not in self.statements:
            raise self.stop(call, "is not made for training behind the layers")
        if any(
            isinstance(outer, (cst.With, cst.For))
            for outer in self.tree.ancestors(call)
        ):
            raise self.stop(call, "is made in a scope, which changes its name")
        small = only_small(statement)
        index = self.statements.index(statement)
        value = call.args[0].value
        if isinstance(small, cst.Assign) and small.value is call:
            target: cst.BaseExpression = small.targets[0].target
        elif isinstance(small, cst.Expr) and small.value is call:
            target = value
        else:
            raise self.stop(call, "is part of an expression")
        if not isinstance(target, cst.Name):
            raise self.stop(call, "is not held in a variable")
        if any(target.value in binds(s) for s in self.statements[index + 1 :]):
            raise self.stop(call, f"is gone when `{target.value}` is assigned anew")
        if not self.is_number(value, self.statements[:index]):
            raise self.stop(call, "is not seen to be a single number")
        return target.value

    def is_number(
        self, node: cst.BaseExpression, before: Sequence[Statement], depth: int = 0
    ) -> bool:
        """The expression gives a scalar float."""
        if depth > 12:
            return False
        if isinstance(node, cst.Name):
            made = [i for i, s in enumerate(before) if node.value in binds(s)]
            if not made:
                return False
            value = latest(self.tree, [before[made[-1]]], node)
            return (
                value is not None
                and value is not node
                and isinstance(only_small(before[made[-1]]), cst.Assign)
                and self.is_number(value, before[: made[-1]], depth + 1)
            )
        if isinstance(node, cst.Float):
            return True
        if isinstance(node, cst.BinaryOperation):
            sides = (node.left, node.right)
            numbers = [
                isinstance(side, cst.BaseNumber)
                or self.is_number(side, before, depth + 1)
                for side in sides
            ]
            return all(numbers) and not all(
                isinstance(side, cst.BaseNumber) for side in sides
            )
        if not isinstance(node, cst.Call):
            return False
        symbol = self.tree.symbol(node.func)
        if symbol in LOSSES:
            return all(
                a.keyword is None or a.keyword.value != "reduction" for a in node.args
            )
        if symbol == _REGULARIZATION:
            return True
        if symbol in _WHOLE:
            return len(node.args) == 1
        return (
            symbol in _SAME
            and bool(node.args)
            and self.is_number(node.args[0].value, before, depth + 1)
        )
