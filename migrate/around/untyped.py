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

_WIDTH, _INDENT = 88, 4
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


def on_one_line(function: cst.FunctionDef, width: int) -> cst.FunctionDef:
    """A function whose parameters are on the line of its name where they fit there."""
    nothing = cst.SimpleWhitespace("")
    given = function.params
    every = [*given.params, given.star_arg, *given.kwonly_params, given.star_kwarg]
    named = [one for one in every if isinstance(one, cst.Param)]
    if given.posonly_params or not named or _has_comments(function):
        return function
    last = named[-1]
    apart = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))

    def placed(one: cst.Param) -> cst.Param:
        comma = cst.MaybeSentinel.DEFAULT if one is last else apart
        return one.with_changes(comma=comma, whitespace_after_param=nothing)

    star = given.star_arg
    if isinstance(star, cst.ParamStar):
        star = star.with_changes(comma=apart)
    elif isinstance(star, cst.Param):
        star = placed(star)
    joined = given.with_changes(
        params=[placed(one) for one in given.params],
        star_arg=star,
        kwonly_params=[placed(one) for one in given.kwonly_params],
        star_kwarg=given.star_kwarg and placed(given.star_kwarg),
    )
    made = function.with_changes(params=joined, whitespace_before_params=nothing)
    head = made.with_changes(
        body=cst.SimpleStatementSuite([cst.Pass()]),
        leading_lines=[],
        lines_after_decorators=[],
        decorators=[],
    )
    text = cst.Module([head]).code.removesuffix(" pass\n")
    fits = "\n" not in text and len(text) <= width
    return made if fits else function


def _has_comments(function: cst.FunctionDef) -> bool:
    """Whether one stands among the parameters, which has to keep its line."""
    module = cst.Module([])
    before = module.code_for_node(function.whitespace_before_params)
    return "#" in before + module.code_for_node(function.params)


class _Untyped(CodeTransformer):
    def __init__(self) -> None:
        super().__init__()
        # Whether what is visited belongs to a function rather than to a class.
        self.inside: list[bool] = [True]
        # How many blocks are around what is visited.
        self.depth = 0

    def visit_IndentedBlock(self, node: cst.IndentedBlock) -> None:
        self.depth += 1

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        self.depth -= 1
        return updated_node

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self.inside.append(True)

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        self.inside.pop()
        plain = updated_node.with_changes(returns=None)
        return on_one_line(plain, _WIDTH - _INDENT * self.depth)

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
