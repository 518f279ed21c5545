"""Why a program is kept."""

from __future__ import annotations

__all__ = ["Refused"]


class Refused(Exception):
    """Why a program is kept; a user can act on it."""
