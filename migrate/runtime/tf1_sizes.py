"""Sizes of shapes as TensorFlow 1 took them: "64" of a flag, the 4.0 of a division."""

from __future__ import annotations

import functools
from typing import Any

from .vocabulary import v1


def sized_as_in_tf1(dimension: Any) -> Any:
    """Lets every shape be made of numbers in whatever form, if they are whole."""
    made = dimension.__init__

    @functools.wraps(made)
    def made_of_number(self: Any, value: Any) -> None:
        text = isinstance(value, (str, bytes))
        if text or (isinstance(value, float) and value.is_integer()):
            value = int(value)
        made(self, value)

    dimension.__init__ = made_of_number
    return dimension


# From here on `shape=[n / 2, "3"]` are sizes, in all of the program.
tf1_sizes = sized_as_in_tf1(v1.Dimension)
