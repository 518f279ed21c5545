"""``softmax_cross_entropy_with_logits``: TF1 stops the gradient at the labels.

https://www.tensorflow.org/api_docs/python/tf/nn/softmax_cross_entropy_with_logits
"""

from __future__ import annotations

from ..code.data import is_data
from ..code.tree import Tree
from ..project.text import Edit
from ..report.findings import Safety
from .base import Diagnosis, Rule, SymbolUse
from .calls import argument
from .context import Context

SYMBOLS = frozenset({"tf.nn.softmax_cross_entropy_with_logits"})

RULE = Rule(
    id="TFM207",
    name="cross-entropy-labels",
    summary="Softmax cross entropy keeps TF1's stopped gradient at the labels.",
    why=(
        "TF 1's function ignored how the labels were computed; TF 2's passes the "
        "gradient into them. `tf.stop_gradient` keeps the old meaning visibly."
    ),
    safety=Safety.EXACT,
    examples=(
        (
            "import tensorflow as tf\n\n"
            "x = tf.nn.softmax_cross_entropy_with_logits(labels=a, logits=b)\n",
            "import tensorflow as tf\n\n"
            "x = tf.nn.softmax_cross_entropy_with_logits("
            "labels=tf.stop_gradient(a), logits=b)\n",
        ),
    ),
    noops=(
        "import tensorflow as tf\n\n"
        "x = tf.nn.softmax_cross_entropy_with_logits("
        "labels=tf.stop_gradient(a), logits=b)\n",
    ),
)


def check(use: SymbolUse, context: Context) -> Diagnosis | None:
    """Wrap the labels; unclear calls stay exact in compat.v1."""
    message = f"`{use.symbol}` sends gradients into the labels in TensorFlow 2"
    exact = Diagnosis(
        RULE.id,
        message,
        symbol=use.symbol,
        target="tf.compat.v1.nn.softmax_cross_entropy_with_logits",
    )
    call = use.call
    if call is None or any(a.star or a.keyword is None for a in call.args):
        return exact
    labels = argument(call, "labels", 0)
    names = {a.keyword.value: a for a in call.args if a.keyword is not None}
    if labels is None or not set(names) <= {"labels", "logits", "name", "dim", "axis"}:
        return exact
    edits: list[Edit] = []
    if "dim" in names and (keyword := names["dim"].keyword) is not None:
        edits.append(context.replace(keyword, "axis"))
    tree = Tree(context.module, context.resolver)
    if not _stopped(labels.value, context) and not is_data(tree, labels.value):
        near = use.use.root
        spelled = context.spell("tf.stop_gradient", use.scope, near)
        edits.append(context.insert_before(labels.value, f"{spelled}("))
        edits.append(context.insert_after(labels.value, ")"))
    if not edits:
        return None
    return Diagnosis(
        RULE.id, message, tuple(edits), symbol=use.symbol, target=use.symbol
    )


def _stopped(node: object, context: Context) -> bool:
    import libcst as cst

    return (
        isinstance(node, cst.Call)
        and context.resolver.resolve(node.func) == "tf.stop_gradient"
    )
