"""What is taken of a function: a class's code, and functions with their own."""

from __future__ import annotations

from dataclasses import dataclass

from ...code.tree import Statement
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
