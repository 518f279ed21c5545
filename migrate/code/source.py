"""A model_fn's definition, with the questions its readers ask of it."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from .blocked import Blocked
from .tree import Tree


@dataclass(frozen=True)
class Source:
    """The definition of a model_fn inside its module."""

    tree: Tree
    defined: cst.FunctionDef

    def stop(self, node: cst.CSTNode, reason: str) -> Blocked:
        """What to raise where the model_fn leaves what is understood."""
        return Blocked(self.tree.line(node), f"model_fn: {reason}")
