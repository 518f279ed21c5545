"""Code of ours without its annotations, for files where nobody else writes any.

They name classes that come later, which only modules of their own may do, with an
import that has to stand first in a file.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ..emit.module.imports import drop_unused_imports
from ..symbols.nodes import CodeTransformer

__all__ = ["untyped"]

_PLAIN = cst.AssignEqual(
    whitespace_before=cst.SimpleWhitespace(""),
    whitespace_after=cst.SimpleWhitespace(""),
)


def untyped(imports: Sequence[str], body: str) -> tuple[str, str]:
    """The import sections and the text below them; fields of classes keep types."""
    head = "\n".join(imports)
    before = cst.parse_module(f"{head}\n_here_\n{body}")
    after = before.visit(_Untyped())
    assert isinstance(after, cst.Module)
    text = drop_unused_imports(before, after).code
    above, _, below = text.partition("\n_here_\n")
    return above.strip("\n"), below.strip("\n")


class _Untyped(CodeTransformer):
    def __init__(self) -> None:
        super().__init__()
        # Whether what is visited belongs to a function rather than to a class.
        self.inside: list[bool] = [True]

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self.inside.append(True)

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        self.inside.pop()
        return updated_node.with_changes(returns=None)

    def visit_ClassDef(self, node: cst.ClassDef) -> None:
        self.inside.append(False)

    def leave_ClassDef(
        self, original_node: cst.ClassDef, updated_node: cst.ClassDef
    ) -> cst.ClassDef:
        self.inside.pop()
        return updated_node

    def leave_Param(
        self, original_node: cst.Param, updated_node: cst.Param
    ) -> cst.Param:
        if updated_node.annotation is None:
            return updated_node
        equal = _PLAIN if updated_node.default is not None else updated_node.equal
        return updated_node.with_changes(annotation=None, equal=equal)

    def leave_SimpleStatementLine(
        self,
        original_node: cst.SimpleStatementLine,
        updated_node: cst.SimpleStatementLine,
    ) -> cst.SimpleStatementLine | cst.RemovalSentinel:
        small = updated_node.body[0]
        if not isinstance(small, cst.AnnAssign) or not self.inside[-1]:
            return updated_node
        if small.value is None:
            return cst.RemoveFromParent()
        plain = cst.Assign([cst.AssignTarget(small.target)], small.value)
        return updated_node.with_changes(body=[plain])
