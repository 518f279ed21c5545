"""Points at Estimator code that no training program took along."""

from __future__ import annotations

from ..report.findings import Safety
from .base import Rule

RULE = Rule(
    id="TFM209",
    name="estimator-symbol",
    summary="tf.estimator code outside any recognised program is pointed out.",
    why=(
        "TF 2.16 removed `tf.estimator`. Programs that tfmigrate recognises are "
        "rewritten as a whole; an Estimator symbol that belongs to none of them stays, "
        "with a note. `tfmigrate run` and `import tfmigrate.compat.v1 as tf` still "
        "execute it."
    ),
    safety=Safety.NEEDS_REVIEW,
    examples=(
        (
            "import tensorflow as tf\n\n\ndef modes():\n"
            "    return tf.estimator.ModeKeys.TRAIN\n",
            "import tensorflow as tf\n\n\ndef modes():\n"
            "    # TODO(tfmigrate): TFM209 `tf.estimator.ModeKeys.TRAIN` is gone: tf.estimator was\n"
            "    #   removed in TensorFlow 2.16; `tfmigrate run` still runs the program, or import\n"
            "    #   tfmigrate.compat.v1 as tf; see `tfmigrate explain TFM209`\n"
            "    return tf.estimator.ModeKeys.TRAIN\n",
        ),
    ),
    noops=(
        "import tfmigrate.compat.v1 as tf\n\nx = tf.estimator.ModeKeys.TRAIN\n",
        "from sklearn import estimator\n\nx = estimator.ModeKeys\n",
    ),
    advice_only=True,
)
