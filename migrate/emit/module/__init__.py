"""Changes of one module: edits, imports, names, layout."""

from __future__ import annotations
