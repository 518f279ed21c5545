"""Shapes as TensorFlow 1 had them, for model functions that were written for it."""

from __future__ import annotations

from .vocabulary import v1

# From here on `x.shape[0]` is a Dimension, with a `value`, in all of the program.
tf1_shapes = v1.disable_v2_tensorshape()
