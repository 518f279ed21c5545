"""What is taken of a function: a class's code, functions with their own, or nothing."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from ...code.tree import Statement, walk
from ...model.notes import Notes
from ...model.values import Function


@dataclass
class Helper:
    """A function whose layers have a class of their own."""

    function: Function
    name: str = ""
    # Parameters of the constructor, and of the call, in their order.
    setup: tuple[str, ...] = ()
    graph: tuple[str, ...] = ()
    flag: str = ""


@dataclass
class Taken:
    """The code of a class; ``setup`` and ``graph`` are what it wants from outside."""

    init: list[str]
    call: list[Statement]
    setup: list[str]
    graph: list[str]
    # What is called `training` in the call.
    flag: str


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
