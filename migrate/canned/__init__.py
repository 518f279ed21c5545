"""Canned Estimators as Keras models, as they come along with programs."""

from __future__ import annotations
