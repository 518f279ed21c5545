"""Fits calls to functions whose parameters were renamed or reordered.

The table of parameters comes from the signatures of the two real packages.
Where a call cannot be fitted, ``tf.compat.v1`` has the function unchanged.
"""

from __future__ import annotations

from ..names.names import Door
from ..names.table import Move
from ..project.text import Edit
from ..report.findings import Outcome, Safety
from .base import Diagnosis, Rule, SymbolUse
from .calls import fit_call
from .context import Context

RULE = Rule(
    id="TFM203",
    name="changed-arguments",
    summary=(
        "A call whose parameters TensorFlow 2 renamed or reordered gets today's names."
    ),
    why=(
        "`keep_dims` became `keepdims`, `dim` became `axis`, `filter` became "
        "`filters`, and some positions moved. A call that would not mean the same "
        "with new names is kept exact through `tf.compat.v1`."
    ),
    safety=Safety.EXACT,
    examples=(
        (
            "import tensorflow as tf\n\nx = tf.reduce_sum(y, 1, keep_dims=True)\n",
            "import tensorflow as tf\n\nx = tf.reduce_sum(y, 1, keepdims=True)\n",
        ),
        (
            "import tensorflow as tf\n\nx = tf.nn.softmax(y, dim=1)\n",
            "import tensorflow as tf\n\nx = tf.nn.softmax(y, axis=1)\n",
        ),
        (
            "import tensorflow as tf\n\nx = tf.argmax(y, 1, 'best')\n",
            "import tensorflow as tf\n\nx = tf.argmax(y, 1, name='best')\n",
        ),
        (
            "import tensorflow as tf\n\nx = tf.reduce_sum(*y)\n",
            "import tensorflow as tf\n\nx = tf.compat.v1.reduce_sum(*y)\n",
        ),
    ),
    noops=(
        "import tensorflow as tf\n\nx = tf.reduce_sum(y, axis=1, keepdims=True)\n",
        "import tensorflow as tf\n\nx = tf.expand_dims(y, axis=-1)\n",
        "import numpy as tf\n\nx = tf.sum(y, keep_dims=True)\n",
    ),
)


def check(use: SymbolUse, context: Context) -> Diagnosis | None:
    """Fit the call, or fall back to the exact old function."""
    move = use.move
    assert move is not None
    target = move.otherwise
    edits: tuple[Edit, ...] = ()
    problem = "it is not called here"
    if use.call is None and _same_by_position(move):
        # Handed over as a function, as in activation=tf.nn.relu.
        target = move.to
    elif use.call is not None:
        fit = fit_call(use.call, move, context)
        problem = fit.problem or ""
        if fit.problem is None:
            target, edits = move.to, fit.edits
    if target is None:
        return Diagnosis(
            RULE.id,
            f"`{use.symbol}` takes other arguments in TensorFlow 2",
            outcome=Outcome.LEFT,
            reason=f"{problem}; `{move.to}` is its successor",
            note=f"`{use.symbol}`: {problem}; `{move.to}` is its successor",
            symbol=use.symbol,
        )
    if target == use.symbol and not edits:
        if use.door is not Door.PRIVATE:
            return None
        return Diagnosis(
            "TFM204",
            f"`{use.spelled}` is public as `{target}`",
            symbol=use.symbol,
            target=target,
        )
    what = "arguments changed" if edits else f"is `{target}` today"
    return Diagnosis(
        RULE.id, f"`{use.symbol}` {what}", edits=edits, symbol=use.symbol, target=target
    )


def _same_by_position(move: Move) -> bool:
    """Whether positional arguments mean the same; only extra names were dropped."""
    assert move.old is not None
    return move.old[: len(move.new)] == move.new and not move.differ
