"""Programs in plainer words, so that one reader understands them all."""

from __future__ import annotations
