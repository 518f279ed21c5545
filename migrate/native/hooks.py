"""Hooks that look on while a model trains, as callbacks."""

from __future__ import annotations

from .page import Page
from .word import Handler

__all__ = ["WORDS", "callbacks"]


def callbacks(page: Page) -> None:
    """Rewrites the hooks that the file defines."""


WORDS: dict[str, Handler] = {}
