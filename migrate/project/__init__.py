"""Reading a project: files, sources, edits and the journal."""

from __future__ import annotations
