"""What a model function does in a mode outside of its layers, as code of a loop."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ..interp.arguments import Argument
from ..interp.in_mode import Called, Decided, InMode
from ..plan.code.modern import modern_call
from ..plan.code.pure import is_plain_call, is_pure, pure_function
from ..plan.code.source import Source
from ..plan.code.statements import backward_slice, binds, loads
from ..plan.code.texts import source_text
from ..plan.code.tree import Statement, walk
from ..plan.program import TF

__all__ = ["LOSSES", "Steps"]

_LOSS_NAMES = """
absolute_difference compute_weighted_loss cosine_distance hinge_loss huber_loss log_loss
mean_pairwise_squared_error mean_squared_error sigmoid_cross_entropy
softmax_cross_entropy sparse_softmax_cross_entropy
"""
LOSSES = tuple(f"tf.losses.{name}" for name in _LOSS_NAMES.split())
_NOT_UNDERSTOOD = (cst.While, cst.Try, cst.ClassDef, cst.With)


class Steps:
    """The statements of a mode that are no layers, and what is computed by them."""

    def __init__(self, source: Source, found: InMode, layers: set[cst.CSTNode]) -> None:
        self.source = source
        self.tree = source.tree
        self.found = found
        self.statements = [one for one in found.taken if one not in layers]

    def stop(self, node: cst.CSTNode, reason: str) -> Exception:
        """What to raise where code is not understood."""
        return self.source.stop(node, reason)

    def arguments(
        self, called: Called, parameters: Sequence[str]
    ) -> dict[str, Argument]:
        """Arguments of a call by their parameters, without those that are None."""
        assert called.node is not None
        found: dict[str, Argument] = {}
        for place, one in enumerate(called.arguments):
            known = parameters[place] if place < len(parameters) else ""
            name = one.keyword or known
            if one.star or name not in parameters:
                shown = one.star or name or "more of them"
                said = f"`{called.symbol}` with the argument `{shown}`"
                raise self.stop(called.node, said)
            if not isinstance(one.value, Decided) and self._is_none(one):
                continue
            found[name] = one
        return found

    def _is_none(self, one: Argument) -> bool:
        return getattr(one.value, "value", one) is None

    def is_own(self, called: Called) -> bool:
        """The model function says the call itself, with the names that it has."""
        assert called.node is not None
        holds = self.tree.holds(called.node)
        return holds and self.tree.function(called.node) is self.source.defined

    # -- code

    def needs(self, nodes: Sequence[cst.BaseExpression]) -> list[Statement]:
        """The statements that what expressions read is computed by."""
        wanted: set[str] = set()
        for node in nodes:
            names = loads(self.tree, node)
            self._check_lasts(node, names)
            wanted |= names
        return backward_slice(self.tree, self.statements, wanted)

    def _check_lasts(self, node: cst.BaseExpression, names: set[str]) -> None:
        """An expression may be said later than it stands."""
        around = {node, *self.tree.ancestors(node)}
        taken = self.found.taken
        places = [n for n, one in enumerate(taken) if one in around]
        for later in taken[places[-1] + 1 :] if places else ():
            changed = sorted(names & binds(later))
            if changed:
                raise self.stop(later, f"`{changed[0]}` gets another value")

    def code(self, statements: Sequence[Statement]) -> list[str]:
        """Source text of statements in today's words."""
        found: list[str] = []
        for one in statements:
            self._check(one)
            changed = one.visit(_Today(self))
            assert isinstance(changed, cst.CSTNode)
            found.append(source_text(changed))
        return found

    def expression(self, node: cst.BaseExpression) -> str:
        """Source text of an expression in today's words."""
        self._check(node)
        changed = node.visit(_Today(self))
        assert isinstance(changed, cst.BaseExpression)
        return source_text(changed)

    def _check(self, root: cst.CSTNode) -> None:
        """Everything below the node computes something, and does nothing else."""
        if isinstance(root, _NOT_UNDERSTOOD):
            raise self.stop(root, "a statement that is not understood")
        for node in walk(root):
            if isinstance(node, cst.Call) and not self._computes(node):
                shown = self.tree.symbol(node.func) or self.tree.code(node.func)
                raise self.stop(node, f"`{shown}` in the loss or a metric")

    def _computes(self, node: cst.Call) -> bool:
        symbol = self.tree.symbol(node.func)
        if symbol is not None:
            return is_pure(symbol) or symbol in LOSSES
        defined = self.tree.resolver.definition(node.func)
        if isinstance(defined, cst.FunctionDef):
            return pure_function(self.source, defined, losses=LOSSES)
        return is_plain_call(self.source, node)

    def decided(self, node: cst.CSTNode) -> Decided | None:
        """What the mode makes of an expression."""
        value = self.found.notes.values.get(node)
        return value if isinstance(value, Decided) else None


class _Today(cst.CSTTransformer):
    """Names of today, and values in the place of what the mode decides."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.tree = steps.tree

    def on_visit(self, node: cst.CSTNode) -> bool:
        return not self._is_decided(node) and super().on_visit(node)

    def _is_decided(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Name):
            known = node in self.tree.resolver.scopes.loads
            return known and self.steps.decided(node) is not None
        tests = (cst.Comparison, cst.BooleanOperation, cst.UnaryOperation)
        return isinstance(node, tests) and self.steps.decided(node) is not None

    def on_leave(
        self, original: cst.CSTNodeT, updated: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        if self._is_decided(original):
            found = self.steps.decided(original)
            if found is None or not isinstance(found.value, bool):
                raise self.steps.stop(original, "the loss depends on the mode")
            return cst.Name(str(found.value))  # type: ignore[return-value]
        return super().on_leave(original, updated)

    def visit_IfExp(self, node: cst.IfExp) -> bool:
        return self.steps.decided(node.test) is None

    def leave_IfExp(
        self, original_node: cst.IfExp, updated_node: cst.IfExp
    ) -> cst.BaseExpression:
        test = self.steps.decided(original_node.test)
        if test is None:
            return updated_node
        # Of a choice by the mode, only one side can come.
        chosen = original_node.body if test.value else original_node.orelse
        changed = chosen.visit(self)
        assert isinstance(changed, cst.BaseExpression)
        return changed

    def leave_Name(
        self, original_node: cst.Name, updated_node: cst.Name
    ) -> cst.BaseExpression:
        if original_node.value == "config" and (
            original_node in self.tree.resolver.scopes.loads
        ):
            raise self.steps.stop(original_node, "the loss depends on `config`")
        return updated_node

    def leave_Call(
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        symbol = self.tree.symbol(original_node.func)
        if symbol in LOSSES:
            moved = cst.parse_expression(f"{TF}.compat.v1.{symbol[3:]}")
            return updated_node.with_changes(func=moved)
        return modern_call(symbol, updated_node) or updated_node
