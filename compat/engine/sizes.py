"""Sizes of shapes as TF 1.15 took them: "64" of a flag, the 4.0 of a division."""

from __future__ import annotations

import functools
from typing import Any

import tensorflow as tf

__all__ = ["take_sizes_of_tf1"]


def take_sizes_of_tf1() -> None:
    """Let every shape be made of numbers in whatever form, if they are whole.

    ``Dimension`` of TF 1.15 called ``int`` and asked whether that was the same number,
    of text not even that; today's takes nothing but integers.
    """
    dimension: Any = tf.compat.v1.Dimension
    made = dimension.__init__

    @functools.wraps(made)
    def made_of_number(self: Any, value: Any) -> None:
        text = isinstance(value, (str, bytes))
        if text or (isinstance(value, float) and value.is_integer()):
            value = int(value)
        made(self, value)

    dimension.__init__ = made_of_number
