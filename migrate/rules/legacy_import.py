"""Drops imports of dead modules once nothing in the file needs them."""

from __future__ import annotations

from ..report.findings import Safety
from .base import Rule

RULE = Rule(
    id="TFM205",
    name="legacy-import",
    summary="An import that fails on TensorFlow 2 goes once its uses are rewritten.",
    why=(
        "`import tensorflow.contrib.lookup` fails as a whole on TF 2, whatever is "
        "used of it. When every use has found a new home, the import is removed; "
        "when one has not, the import stays with a note, so that nothing is lost."
    ),
    safety=Safety.EXACT,
    examples=(
        (
            "import tensorflow as tf\nfrom tensorflow.contrib import data\n\n"
            "d = ds.apply(data.shuffle_and_repeat(100))\n",
            "import tensorflow as tf\n\n"
            "d = ds.apply(tf.data.experimental.shuffle_and_repeat(100))\n",
        ),
        (
            "import tensorflow.contrib.data as tfd\n\n"
            "d = ds.apply(tfd.shuffle_and_repeat(100))\n",
            "import tensorflow as tf\n\n"
            "d = ds.apply(tf.data.experimental.shuffle_and_repeat(100))\n",
        ),
    ),
    noops=(
        "import tensorflow as tf\n",
        "from tensorflow.keras import layers\n",
        "try:\n    import tensorflow.compat.v1 as tf\n"
        "except ImportError:\n    import tensorflow as tf\n",
    ),
)
