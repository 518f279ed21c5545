"""A model is made as it trains, since it has layers that are called then alone."""

from __future__ import annotations
