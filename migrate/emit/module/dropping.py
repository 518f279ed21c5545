"""Statements that go, and what must stay where they were the only ones."""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst

from ...symbols.nodes import CodeTransformer

__all__ = ["without_statements"]


def without_statements(
    module: cst.Module, gone: Collection[cst.BaseSmallStatement]
) -> cst.Module:
    """The module without these statements; a block that had no other gets a `pass`."""
    if not gone:
        return module
    changed = module.visit(_Drop(set(gone)))
    assert isinstance(changed, cst.Module)
    return changed


class _Drop(CodeTransformer):
    def __init__(self, gone: set[cst.BaseSmallStatement]) -> None:
        self.gone = gone

    def leave_SimpleStatementLine(
        self,
        original_node: cst.SimpleStatementLine,
        updated_node: cst.SimpleStatementLine,
    ) -> cst.SimpleStatementLine | cst.RemovalSentinel:
        body = self._kept(original_node, updated_node)
        return updated_node.with_changes(body=body) if body else cst.RemoveFromParent()

    def leave_SimpleStatementSuite(
        self,
        original_node: cst.SimpleStatementSuite,
        updated_node: cst.SimpleStatementSuite,
    ) -> cst.SimpleStatementSuite:
        body = self._kept(original_node, updated_node)
        return updated_node.with_changes(body=body or [cst.Pass()])

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        if updated_node.body:
            return updated_node
        return updated_node.with_changes(body=[cst.SimpleStatementLine([cst.Pass()])])

    def _kept(
        self,
        original: cst.SimpleStatementLine | cst.SimpleStatementSuite,
        updated: cst.SimpleStatementLine | cst.SimpleStatementSuite,
    ) -> list[cst.BaseSmallStatement]:
        pairs = zip(original.body, updated.body, strict=True)
        return [new for old, new in pairs if old not in self.gone]
