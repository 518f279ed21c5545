"""Programs of canned Estimators."""

from __future__ import annotations
