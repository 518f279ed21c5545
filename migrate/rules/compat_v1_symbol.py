"""Spells out ``tf.compat.v1`` where the TF1 behaviour lives on only there."""

from __future__ import annotations

from ..report.findings import Safety
from .base import Rule

RULE = Rule(
    id="TFM202",
    name="compat-v1-symbol",
    summary="A symbol that TensorFlow 2 keeps only as tf.compat.v1 is spelled so.",
    why=(
        "Sessions, v1 optimizers, global collections and some functions whose TF 2 "
        "namesake behaves differently (`tf.where`, `tf.image.resize_images`) live on "
        "under `tf.compat.v1` with exactly the old behaviour."
    ),
    safety=Safety.EXACT,
    examples=(
        (
            "import tensorflow as tf\n\nopt = tf.train.AdamOptimizer(0.001)\n",
            "import tensorflow as tf\n\nopt = tf.compat.v1.train.AdamOptimizer(0.001)\n",
        ),
        (
            "from tensorflow.train import AdamOptimizer\n",
            "from tensorflow.compat.v1.train import AdamOptimizer\n",
        ),
        (
            "import tensorflow as tf\n\nlogging = tf.logging\nlogging.info('x')\n",
            "import tensorflow as tf\n\n"
            "logging = tf.compat.v1.logging\nlogging.info('x')\n",
        ),
    ),
    noops=(
        "import tensorflow.compat.v1 as tf\n\nopt = tf.train.AdamOptimizer(0.001)\n",
        "import tensorflow as tf\n\nopt = tf.compat.v1.train.AdamOptimizer(0.001)\n",
        "import tensorflow as tf\n\nwriter = tf.summary.create_file_writer('logs')\n"
        "with writer.as_default(3):\n    tf.summary.scalar('loss', 0.5)\n",
    ),
)
