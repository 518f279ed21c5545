"""``tf.contrib.learn.utils.input_fn_utils``: what a served model is given."""

from __future__ import annotations

from ..exports import (
    InputFnOps,
    build_default_serving_input_fn,
    build_parsing_serving_input_fn,
)

__all__ = [
    "InputFnOps",
    "build_default_serving_input_fn",
    "build_parsing_serving_input_fn",
]
