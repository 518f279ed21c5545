"""Canned Estimators that become Keras models of the program's own."""

from __future__ import annotations
