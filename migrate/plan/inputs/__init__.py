"""Input functions: the Datasets behind them."""

from __future__ import annotations
