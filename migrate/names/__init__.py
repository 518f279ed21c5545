"""What every TF1 symbol became, as data, and one resolver to find them."""

from __future__ import annotations
