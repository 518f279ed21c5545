"""Training programs spread over files."""

from __future__ import annotations
