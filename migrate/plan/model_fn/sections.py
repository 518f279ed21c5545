"""What a model_fn does outside of its forward pass, as code of step functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from ..code.modern import modern_call
from ..code.pure import is_plain_call, is_pure, pure_function
from ..code.statements import assigned, backward_slice
from ..code.texts import source_text
from ..code.tree import Statement, only_small, walk
from ..program import TF
from .source import Source

if TYPE_CHECKING:
    from .modes import Modes

__all__ = ["LOSSES", "Sections"]

LOSSES = (
    "tf.losses.absolute_difference",
    "tf.losses.compute_weighted_loss",
    "tf.losses.cosine_distance",
    "tf.losses.hinge_loss",
    "tf.losses.huber_loss",
    "tf.losses.log_loss",
    "tf.losses.mean_pairwise_squared_error",
    "tf.losses.mean_squared_error",
    "tf.losses.sigmoid_cross_entropy",
    "tf.losses.softmax_cross_entropy",
    "tf.losses.sparse_softmax_cross_entropy",
)


class Sections:
    """Source text of a model_fn's statements in today's words."""

    def __init__(self, source: Source, modes: Modes) -> None:
        self.source = source
        self.tree = source.tree
        self.modes = modes

    def code(self, statement: Statement, mode: str) -> str:
        """A copied statement."""
        changed = statement.visit(_Section(self, mode))
        assert isinstance(changed, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
        return source_text(changed)

    def expression(self, node: cst.BaseExpression, mode: str) -> str:
        """A copied expression."""
        self.check(node)
        changed = node.visit(_Section(self, mode))
        assert isinstance(changed, cst.BaseExpression)
        return source_text(changed)

    def check(self, root: cst.CSTNode) -> None:
        """Everything below the node must be understood outside of the model."""
        if isinstance(root, (cst.While, cst.Try, cst.ClassDef, cst.With)):
            raise self.source.stop(root, "a statement that is not understood")
        for node in walk(root):
            if isinstance(node, cst.Call):
                self._check_call(node)

    def _check_call(self, node: cst.Call) -> None:
        symbol = self.tree.symbol(node.func)
        if symbol is not None:
            if is_pure(symbol) or symbol in LOSSES:
                return
            raise self.source.stop(node, f"`{symbol}` in the loss or a metric")
        defined = self.tree.resolver.definition(node.func)
        if isinstance(defined, cst.FunctionDef):
            if pure_function(self.source, defined, losses=LOSSES):
                return
        elif is_plain_call(self.source, node):
            return
        shown = self.tree.code(node.func)
        raise self.source.stop(node, f"`{shown}` in the loss or a metric")

    def slice(
        self, statements: Sequence[Statement], wanted: set[str]
    ) -> list[Statement]:
        """The statements that make the wanted names."""
        chosen = backward_slice(self.tree, statements, wanted)
        return [s for s in chosen if not self._only_names(s)]

    def _only_names(self, statement: Statement) -> bool:
        """``loss = tf.identity(loss, name="loss")``: a name for sessions, no value."""
        small = only_small(statement)
        value = small.value if isinstance(small, cst.Assign) else None
        return (
            isinstance(value, cst.Call)
            and self.tree.symbol(value.func) == "tf.identity"
            and bool(value.args)
            and isinstance(value.args[0].value, cst.Name)
            and assigned(statement) == [value.args[0].value.value]
        )


class _Section(cst.CSTTransformer):
    def __init__(self, sections: Sections, mode: str) -> None:
        self.sections = sections
        self.tree = sections.tree
        self.mode = mode

    def leave_Call(
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        symbol = self.tree.symbol(original_node.func)
        if symbol in LOSSES:
            moved = cst.parse_expression(f"{TF}.compat.v1.{symbol[3:]}")
            return updated_node.with_changes(func=moved)
        return modern_call(symbol, updated_node) or updated_node

    def leave_Name(
        self, original_node: cst.Name, updated_node: cst.Name
    ) -> cst.BaseExpression:
        if original_node not in self.tree.resolver.scopes.loads:
            return updated_node
        verdict = self.sections.modes.test(original_node, self.mode)
        if verdict is not None:
            return cst.Name(str(verdict))
        if original_node.value in ("mode", "config"):
            reason = "the loss depends on the mode"
            raise self.sections.source.stop(original_node, reason)
        return updated_node

    def leave_Comparison(
        self, original_node: cst.Comparison, updated_node: cst.Comparison
    ) -> cst.BaseExpression:
        verdict = self.sections.modes.test(original_node, self.mode)
        return updated_node if verdict is None else cst.Name(str(verdict))

    def visit_Comparison(self, node: cst.Comparison) -> bool:
        return self.sections.modes.test(node, self.mode) is None

    def visit_IfExp(self, node: cst.IfExp) -> bool:
        return self.sections.modes.test(node.test, self.mode) is None

    def leave_IfExp(
        self, original_node: cst.IfExp, updated_node: cst.IfExp
    ) -> cst.BaseExpression:
        verdict = self.sections.modes.test(original_node.test, self.mode)
        if verdict is None:
            return updated_node
        # Of a choice by the mode, only one side can come.
        chosen = original_node.body if verdict else original_node.orelse
        changed = chosen.visit(_Section(self.sections, self.mode))
        assert isinstance(changed, cst.BaseExpression)
        return changed
