"""The helper modules of TensorFlow's tutorials that programs import."""

from __future__ import annotations
