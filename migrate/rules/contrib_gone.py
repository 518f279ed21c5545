"""Tells what to do about tf.contrib symbols without a home."""

from __future__ import annotations

from ..report.findings import Safety
from .base import Rule

RULE = Rule(
    id="TFM302",
    name="contrib-gone",
    summary="A tf.contrib symbol without a home is pointed out with advice.",
    why=(
        "`tf.contrib` was dropped as a whole, and this part of it moved nowhere in "
        "TensorFlow. The code is left as it is and a note says what people use "
        "instead."
    ),
    safety=Safety.NEEDS_REVIEW,
    examples=(
        (
            "import tensorflow as tf\n\nh = tf.contrib.training.HParams(a=1)\n",
            "import tensorflow as tf\n\n"
            "# TODO(tfmigrate): TFM302 `tf.contrib.training.HParams` is gone: use a dataclass or a\n"
            "#   dict; see `tfmigrate explain TFM302`\n"
            "h = tf.contrib.training.HParams(a=1)\n",
        ),
    ),
    noops=("import torch.contrib as contrib\n\nh = contrib.training.HParams(a=1)\n",),
    advice_only=True,
)
