"""Code that makes layers, lifted into Keras classes."""

from __future__ import annotations
