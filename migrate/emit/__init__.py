"""From a training plan to strategy-scoped loop code."""

from __future__ import annotations
