"""Errors that are the user's to mend, told without a traceback."""

from __future__ import annotations

__all__ = ["UserError"]


class UserError(Exception):
    """A problem the user can act on.

    The command line prints ``message`` and ``hint`` on stderr and exits with
    status 2; a traceback would only hide them.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
