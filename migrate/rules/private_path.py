"""Replaces private ``tensorflow.python`` paths by the public symbol.

Private modules move and vanish between releases without notice; the objects
they define nearly all have a public name.
"""

from __future__ import annotations

from ..report.findings import Safety
from .base import Rule

RULE = Rule(
    id="TFM204",
    name="private-path",
    summary="A private tensorflow.python path is replaced by the public name.",
    why=(
        "`tensorflow.python.*` is not part of TensorFlow's promise: modules move or "
        "disappear at any release. Where the object has a public name, that is used."
    ),
    safety=Safety.EXACT,
    examples=(
        (
            "from tensorflow.python.keras.layers import Dense\n",
            "from tensorflow.keras.layers import Dense\n",
        ),
        (
            "import tensorflow as tf\n"
            "from tensorflow.python.ops import array_ops\n\n"
            "x = array_ops.placeholder(tf.float32)\n",
            "import tensorflow as tf\n\nx = tf.compat.v1.placeholder(tf.float32)\n",
        ),
    ),
    noops=("from mytensorflow.python.keras.layers import Dense\n",),
)
