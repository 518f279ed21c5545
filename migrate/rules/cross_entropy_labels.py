"""``softmax_cross_entropy_with_logits``: TF1 stops the gradient at the labels.

https://www.tensorflow.org/api_docs/python/tf/nn/softmax_cross_entropy_with_logits
"""

from __future__ import annotations

import libcst as cst

from ..code.data import is_data
from ..code.tree import Tree
from ..project.text import Edit
from .base import Diagnosis, SymbolUse
from .changed_arguments import argument
from .context import Context

CROSS_ENTROPY = "tf.nn.softmax_cross_entropy_with_logits"

RULE = "TFM207"


def check(use: SymbolUse, context: Context) -> Diagnosis | None:
    """Wrap the labels; unclear calls stay exact in compat.v1."""
    message = f"`{use.symbol}` sends gradients into the labels in TensorFlow 2"
    exact = Diagnosis(
        RULE,
        message,
        symbol=use.symbol,
        target=CROSS_ENTROPY.replace("tf.", "tf.compat.v1.", 1),
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
    value = labels.value
    stopped = (
        isinstance(value, cst.Call)
        and context.resolver.resolve(value.func) == "tf.stop_gradient"
    )
    if not stopped and not is_data(tree, value):
        spelled = context.spell("tf.stop_gradient", use.scope, use.use.root)
        edits.append(context.insert_before(value, f"{spelled}("))
        edits.append(context.insert_after(value, ")"))
    if not edits:
        return None
    return Diagnosis(RULE, message, tuple(edits), symbol=use.symbol, target=use.symbol)
