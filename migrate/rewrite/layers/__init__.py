"""Keras classes for what model functions make, once they are understood."""

from __future__ import annotations
