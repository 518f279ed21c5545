"""Sends tf.contrib symbols to their home in TensorFlow 2.

https://github.com/tensorflow/community/blob/master/rfcs/20180907-contrib-sunset.md
"""

from __future__ import annotations

from ..report.findings import Safety
from .base import Rule

RULE = Rule(
    id="TFM301",
    name="contrib-moved",
    summary="A tf.contrib symbol that moved into TensorFlow is called by its new name.",
    why=(
        "`tf.contrib` was dropped as a whole. Much of it had been promoted before: "
        "`tf.contrib.data` to `tf.data.experimental`, `tf.contrib.framework.nest` to "
        "`tf.nest`."
    ),
    safety=Safety.EXACT,
    examples=(
        (
            "import tensorflow as tf\n\n"
            "d = ds.apply(tf.contrib.data.map_and_batch(f, 32))\n",
            "import tensorflow as tf\n\n"
            "d = ds.apply(tf.data.experimental.map_and_batch(f, 32))\n",
        ),
        (
            "from tensorflow.contrib.data import map_and_batch\n",
            "from tensorflow.data.experimental import map_and_batch\n",
        ),
    ),
    noops=("from mylib import contrib\n\nd = contrib.data.map_and_batch(f, 32)\n",),
)
