"""Questions to ask of code, and small changes to it."""

from __future__ import annotations
