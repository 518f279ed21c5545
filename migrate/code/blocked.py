"""Raised where code leaves what is understood of it."""

from __future__ import annotations


class Blocked(Exception):
    """Why something cannot be done, and the line of the code that is in the way."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line
        self.reason = reason
