"""Iterator methods that TF2's Dataset lost become functions of compat.v1."""

from __future__ import annotations

import libcst as cst

from ..names.scopes import Scope
from ..project.text import Edit
from ..report.findings import Safety
from .base import Diagnosis, Rule
from .context import Context

RULE = Rule(
    id="TFM401",
    name="dataset-iterator",
    summary="make_one_shot_iterator and its kin become tf.compat.v1.data functions.",
    why=(
        "TF 2's Dataset has no `make_one_shot_iterator()`, "
        "`make_initializable_iterator()`, `output_types` or `output_shapes`; the "
        "functions under `tf.compat.v1.data` do exactly the same."
    ),
    safety=Safety.EXACT,
    examples=(
        (
            "import tensorflow as tf\n\nit = ds.batch(2).make_one_shot_iterator()\n",
            "import tensorflow as tf\n\n"
            "it = tf.compat.v1.data.make_one_shot_iterator(ds.batch(2))\n",
        ),
    ),
    noops=(
        "it = ds.make_one_shot_iterator()\n",
        "import tensorflow as tf\n\nit = tf.compat.v1.data.make_one_shot_iterator(ds)\n",
        "import tensorflow as tf\n\nit = self.make_one_shot_iterator()\n",
    ),
)

METHODS = frozenset({"make_one_shot_iterator", "make_initializable_iterator"})


def check_call(call: cst.Call, context: Context) -> Diagnosis | None:
    """Rewrite ``dataset.make_..._iterator(...)``."""
    function = call.func
    if not isinstance(function, cst.Attribute) or function.attr.value not in METHODS:
        return None
    if context.resolver.qualified(function) is not None:
        return None  # a function of some module, not a method
    owner = function.value
    if isinstance(owner, cst.Name) and owner.value in ("self", "cls", "super"):
        return None
    if any(a.star or a.keyword is None for a in call.args):
        return None
    name = function.attr.value
    scope = _scope_of(owner, context)
    target = context.spell(f"tf.compat.v1.data.{name}", scope)
    owner_start, owner_end = context.outer_span(owner)
    _, function_end = context.span(function)
    _, end = context.span(call)
    edits = [Edit(owner_start, owner_start, f"{target}(")]
    if call.args:
        opening = context.text.index("(", function_end)
        edits.append(Edit(owner_end, opening + 1, ", "))
    else:
        edits.append(Edit(owner_end, end, ")"))
    return Diagnosis(
        RULE.id, f"`Dataset.{name}` is `tf.compat.v1.data.{name}` today", tuple(edits)
    )


def _scope_of(node: cst.BaseExpression, context: Context) -> Scope:
    while not isinstance(node, cst.Name):
        if isinstance(node, cst.Attribute):
            node = node.value
        elif isinstance(node, cst.Call):
            node = node.func
        elif isinstance(node, cst.Subscript):
            node = node.value
        else:
            return context.resolver.scopes.module_scope
    return context.resolver.scope(node) or context.resolver.scopes.module_scope
