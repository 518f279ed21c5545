"""What APIs of TensorFlow 1 are in a Task: pure functions on source text."""

from __future__ import annotations
