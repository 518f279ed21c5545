"""Names as TensorFlow 1 and Keras make them."""

from __future__ import annotations

import re


def snake(name: str) -> str:
    """As TensorFlow 1 and Keras call a layer of the class."""
    words = re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", words).lower()
