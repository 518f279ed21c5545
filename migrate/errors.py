"""Errors that are the user's to mend, told without a traceback."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["UserError", "did_you_mean"]


class UserError(Exception):
    """A problem the user can act on.

    The command line prints ``message`` and ``hint`` on stderr and exits with
    status 2; a traceback would only hide them.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    # Found in one process, told by another.
    def __reduce__(self) -> tuple[object, ...]:
        return _again, (self.message, self.hint)


def _again(message: str, hint: str | None) -> UserError:
    return UserError(message, hint=hint)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`` Did you mean ...?`` with the nearest known words; empty when none is near."""
    import difflib

    near = difflib.get_close_matches(word, list(known), n=3, cutoff=0.6)
    return f" Did you mean {' or '.join(near)}?" if near else ""
