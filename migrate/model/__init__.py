"""What a model function computes, found by evaluating it with abstract values."""

from __future__ import annotations
