"""The loss of a model_fn: the statements that make it, example by example if so."""

from __future__ import annotations

import libcst as cst

from .graph_values import graph_value
from .model_fn_source import Source
from .program import TF
from .pure import is_pure
from .statements import backward_slice
from .tree import Statement, Tree, only_small, walk

__all__ = ["Losses"]

_LOSSES = (
    "tf.losses.absolute_difference",
    "tf.losses.hinge_loss",
    "tf.losses.huber_loss",
    "tf.losses.log_loss",
    "tf.losses.mean_squared_error",
    "tf.losses.sigmoid_cross_entropy",
    "tf.losses.softmax_cross_entropy",
    "tf.losses.sparse_softmax_cross_entropy",
)


class Losses:
    """Reads how the loss of a mode is made."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tree = source.tree

    def read(
        self, statements: list[Statement], node: cst.BaseExpression, *, split: bool
    ) -> tuple[list[str], str, bool]:
        if not isinstance(node, cst.Name):
            raise self.source.stop(node, "the loss is not held in a variable")
        wanted = backward_slice(self.tree, statements, {node.value})
        if not wanted:
            raise self.source.stop(node, f"it is not seen how `{node.value}` is made")
        for statement in wanted:
            self.check(statement)
        last = only_small(wanted[-1])
        assert isinstance(last, cst.Assign)
        value = last.value
        if split and isinstance(value, cst.Call):
            symbol = self.tree.symbol(value.func)
            keywords = [a.keyword.value for a in value.args if a.keyword]
            if (
                symbol in _LOSSES
                and len(value.args) <= 2
                and (set(keywords).isdisjoint({"weights", "reduction", "scope"}))
            ):
                inside = ", ".join(
                    self.tree.code(a.with_changes(comma=cst.MaybeSentinel.DEFAULT))
                    for a in value.args
                )
                code = f'{TF}.compat.v1.{symbol[3:]}({inside}, reduction="none")'
                lines = [self.code(s) for s in wanted[:-1]]
                lines += self.source.comments(wanted[-1])
                return [*lines, f"losses = {code}\n"], "losses", True
            if symbol == "tf.reduce_mean" and len(value.args) == 1:
                lines = [self.code(s) for s in wanted[:-1]]
                lines += self.source.comments(wanted[-1])
                inside = self.tree.code(value.args[0].value)
                return [*lines, f"losses = {inside}\n"], "losses", True
        return [self.code(s) for s in wanted], node.value, False

    def check(self, statement: Statement) -> None:
        small = only_small(statement)
        if not isinstance(small, cst.Assign):
            raise self.source.stop(statement, "the loss is made in a branch")
        for node in walk(small.value):
            if isinstance(node, cst.Call):
                symbol = self.tree.symbol(node.func)
                if graph_value(self.tree, node) is not None:
                    continue
                if symbol is None or not (is_pure(symbol) or symbol in _LOSSES):
                    shown = symbol or self.tree.code(node.func)
                    raise self.source.stop(node, f"`{shown}` in the loss or a metric")
            if isinstance(node, cst.Name) and node.value == "mode":
                raise self.source.stop(node, "the loss depends on the mode")

    def code(self, statement: Statement) -> str:
        """Source of a copied statement; losses live on below compat.v1."""
        changed = statement.visit(_Moved(self.tree))
        assert isinstance(changed, cst.SimpleStatementLine)
        return self.source.code(changed)


class _Moved(cst.CSTTransformer):
    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    def leave_Call(
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        value = graph_value(self.tree, original_node)
        if value is not None:
            return cst.parse_expression(value)
        symbol = self.tree.symbol(original_node.func)
        if symbol not in _LOSSES:
            return updated_node
        moved = cst.parse_expression(f"{TF}.compat.v1.{symbol[3:]}")
        return updated_node.with_changes(func=moved)
