"""The Estimator itself: how it was made, where it is held, what is asked of it."""

from __future__ import annotations
