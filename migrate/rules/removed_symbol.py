"""Tells what to do about symbols that are gone from TensorFlow."""

from __future__ import annotations

from ..report.findings import Safety
from .base import Rule

RULE = Rule(
    id="TFM208",
    name="removed-symbol",
    summary="A symbol that no current TensorFlow has is pointed out with advice.",
    why=(
        "Some symbols were removed without a successor that means the same. The "
        "code is left as it is and a note says what people use instead."
    ),
    safety=Safety.NEEDS_REVIEW,
    examples=(
        (
            "import tensorflow as tf\n\nx = tf.layers.dense(y, 10)\n",
            "import tensorflow as tf\n\n"
            "# TODO(tfmigrate): TFM208 `tf.layers.dense` is gone: use the tf.keras.layers class of\n"
            "#   the same name; see `tfmigrate explain TFM208`\n"
            "x = tf.layers.dense(y, 10)\n",
        ),
    ),
    noops=("from flax import layers\n\nx = layers.dense(y, 10)\n",),
    advice_only=True,
)
