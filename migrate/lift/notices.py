"""What lifting is told as it goes on."""

from __future__ import annotations

import libcst as cst

__all__ = ["Stays"]


class Stays(Exception):
    """A function that cannot become a class: its layers are lifted where it stands."""

    def __init__(self, node: cst.CSTNode) -> None:
        super().__init__()
        self.node = node
