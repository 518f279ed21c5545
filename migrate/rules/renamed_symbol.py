"""Renames functions and classes that moved inside TensorFlow.

TF's own export decorators give an object several names over time; where the
object is the same, only the name in the program has to change.
"""

from __future__ import annotations

from ..report.findings import Safety
from .base import Rule

RULE = Rule(
    id="TFM201",
    name="renamed-symbol",
    summary="A symbol that TensorFlow 2 has under another name is renamed.",
    why=(
        "TF 2 tidied its namespace: `tf.log` became `tf.math.log`, `tf.read_file` "
        "became `tf.io.read_file`. The function behind both names is the same "
        "object, so nothing but the name changes."
    ),
    safety=Safety.EXACT,
    examples=(
        (
            "import tensorflow as tf\n\nx = tf.log(tf.read_file(path))\n",
            "import tensorflow as tf\n\nx = tf.math.log(tf.io.read_file(path))\n",
        ),
        (
            "from tensorflow import log\n\ny = log(x)\n",
            "from tensorflow.math import log\n\ny = log(x)\n",
        ),
    ),
    noops=(
        "import tensorflow.compat.v1 as tf\n\nx = tf.log(y)\n",
        "import math as tf\n\nx = tf.log(y)\n",
        "import tensorflow as tf\n\n\ndef f(tf):\n    return tf.log(1)\n",
    ),
)
