"""``tfmigrate rewrite --prove``: old and new train side by side first."""

from __future__ import annotations

from .proving import Trial, proved

__all__ = ["Trial", "proved"]
