"""Code of ours that becomes part of the user's project.

A rewritten program imports nothing of tfmigrate. What it still needs of ours is put
together from our own modules, definition by definition, into modules of the project.
"""

from __future__ import annotations

from .bundle import Bundle, bundle
from .identifiers import identifiers
from .parts import CannotBundle
from .sources import Sources, installed_sources

__all__ = [
    "Bundle",
    "CannotBundle",
    "Sources",
    "bundle",
    "identifiers",
    "installed_sources",
]
