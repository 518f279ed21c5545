"""``tf.logging._logger``: the logger that TensorFlow up to 1.13 kept there.

https://www.tensorflow.org/api_docs/python/tf/get_logger
"""

from __future__ import annotations

from ..report.findings import Safety
from .base import Diagnosis, Rule, SymbolUse
from .context import Context

SYMBOLS = frozenset({"tf.logging._logger"})

RULE = Rule(
    id="TFM213",
    name="private-logger",
    summary="tf.logging._logger becomes tf.get_logger().",
    why=(
        "Programs set the level of TensorFlow's messages on the logger that "
        "`tf.logging` kept for itself. It went with TensorFlow 1.14; "
        "`tf.get_logger()` is the same `logging.Logger`."
    ),
    safety=Safety.EXACT,
    examples=(
        (
            "import logging\n\nimport tensorflow as tf\n\n"
            "tf.logging._logger.setLevel(logging.INFO)\n",
            "import logging\n\nimport tensorflow as tf\n\n"
            "tf.get_logger().setLevel(logging.INFO)\n",
        ),
    ),
    noops=("from absl import logging\n\nlogging._logger.setLevel(10)\n",),
)


def check(use: SymbolUse, context: Context) -> Diagnosis:
    """Ask for the logger in its place."""
    spelled = context.spell("tf.get_logger", use.scope, use.use.root)
    return Diagnosis(
        RULE.id,
        f"`{use.symbol}` is `tf.get_logger()`",
        (context.replace(use.node, f"{spelled}()"),),
        symbol=use.symbol,
        target=use.symbol,
    )
