"""One statement in each line: what stands in one line cannot move apart."""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst

from ...code.edits import changed
from ...code.tree import walk
from ...project.facts import ParsedModule, ProjectFacts


def one_in_each(
    parsed: ParsedModule, facts: ProjectFacts, functions: Collection[cst.CSTNode]
) -> ParsedModule:
    """The file with functions that have one statement in each line.

    The same file, if they have that already.
    """
    own = [one for one in parsed.nodes if one in functions]
    if not any(map(_is_crowded, (inner for one in own for inner in walk(one)))):
        return parsed
    return changed(parsed, facts, _Apart(own))


def _is_crowded(node: cst.CSTNode) -> bool:
    several = isinstance(node, cst.SimpleStatementLine) and len(node.body) > 1
    return several or isinstance(node, cst.SimpleStatementSuite)


class _Apart(cst.CSTTransformer):
    def __init__(self, functions: Collection[cst.CSTNode]) -> None:
        self.functions = functions
        self.inside = 0

    def visit_FunctionDef(self, node: cst.FunctionDef) -> None:
        self.inside += node in self.functions

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        self.inside -= original_node in self.functions
        return updated_node

    def leave_SimpleStatementLine(
        self,
        original_node: cst.SimpleStatementLine,
        updated_node: cst.SimpleStatementLine,
    ) -> cst.SimpleStatementLine | cst.FlattenSentinel[cst.SimpleStatementLine]:
        if not self.inside or len(updated_node.body) < 2:
            return updated_node
        lines = _lines(updated_node.body, updated_node.trailing_whitespace)
        above = updated_node.leading_lines
        return cst.FlattenSentinel(
            [lines[0].with_changes(leading_lines=above), *lines[1:]]
        )

    def leave_SimpleStatementSuite(
        self,
        original_node: cst.SimpleStatementSuite,
        updated_node: cst.SimpleStatementSuite,
    ) -> cst.BaseSuite:
        if not self.inside:
            return updated_node
        return cst.IndentedBlock(
            _lines(updated_node.body, updated_node.trailing_whitespace)
        )


def _lines(
    smalls: Collection[cst.BaseSmallStatement], end: cst.TrailingWhitespace
) -> list[cst.SimpleStatementLine]:
    """Each in a line of its own; what stands behind all of them is behind the last."""
    lines = [
        cst.SimpleStatementLine([one.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)])
        for one in smalls
    ]
    lines[-1] = lines[-1].with_changes(trailing_whitespace=end)
    return lines
