"""``tf.contrib.learn.utils``: serving inputs and export strategies."""

from __future__ import annotations

import sys

from .exports import (
    InputFnOps,
    build_default_serving_input_fn,
    build_parsing_serving_input_fn,
    make_export_strategy,
)

# Programs reach the same names through these two submodules.
input_fn_utils = saved_model_export_utils = sys.modules[__name__]

__all__ = [
    "InputFnOps",
    "build_default_serving_input_fn",
    "build_parsing_serving_input_fn",
    "input_fn_utils",
    "make_export_strategy",
    "saved_model_export_utils",
]
