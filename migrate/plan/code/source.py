"""A model_fn's definition, with the questions its readers ask of it."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from .blocked import Blocked
from .tree import Statement, Tree

__all__ = ["Source"]


@dataclass(frozen=True)
class Source:
    """The definition of a model_fn inside its module."""

    tree: Tree
    defined: cst.FunctionDef

    def stop(self, node: cst.CSTNode, reason: str) -> Blocked:
        """What to raise where the model_fn leaves what is understood."""
        return Blocked(self.tree.line(node), f"model_fn: {reason}")

    def comments(self, statement: Statement) -> list[str]:
        """The comments above a statement, as lines of source."""
        found = [line.comment for line in statement.leading_lines]
        return [f"{comment.value}\n" for comment in found if comment is not None]
