"""The forms that a report can take: text, JSON, SARIF and HTML."""

from __future__ import annotations
