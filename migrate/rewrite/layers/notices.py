"""What lifting is told as it goes on."""

from __future__ import annotations

import libcst as cst

from ...code.tree import walk
from ...model.notes import Notes


class Stays(Exception):
    """A function that cannot become a class: its layers are lifted where it stands."""

    def __init__(self, node: cst.CSTNode) -> None:
        super().__init__()
        self.node = node


def let_stay(notes: Notes, node: cst.CSTNode) -> None:
    """Says that a function keeps its layers that something below the node calls."""
    for one in walk(node):
        if notes.is_helped(one):
            raise Stays(notes.helpers[one][0].node)
