"""Dataset.output_types and its kin become functions of compat.v1.data."""

from __future__ import annotations

import libcst as cst

from ..report.findings import Outcome, Safety
from ..symbols.names import Door
from ..symbols.scopes import Scope
from .base import Diagnosis, Rule
from .context import Context

RULE = Rule(
    id="TFM402",
    name="dataset-structure",
    summary="Dataset.output_types, output_shapes and output_classes become functions.",
    why=(
        "TF 2's Dataset has `element_spec` instead; the functions "
        "`tf.compat.v1.data.get_output_types` and its kin give what the attributes "
        "gave. Where the object cannot be seen to be a Dataset, the place is "
        "pointed out."
    ),
    safety=Safety.EXACT,
    examples=(
        (
            "import tensorflow as tf\n\n"
            "ds = tf.data.Dataset.range(3).batch(2)\nprint(ds.output_types)\n",
            "import tensorflow as tf\n\n"
            "ds = tf.data.Dataset.range(3).batch(2)\n"
            "print(tf.compat.v1.data.get_output_types(ds))\n",
        ),
    ),
    noops=(
        "print(ds.output_types)\n",
        "import tensorflow as tf\n\nprint(self.output_types)\n",
        "import tensorflow.compat.v1 as tf\n\nprint(ds.output_types)\n",
        "import tensorflow as tf\n\n"
        "ds = tf.compat.v1.data.Dataset.range(3)\nprint(ds.output_types)\n",
    ),
)

ATTRIBUTES = frozenset({"output_types", "output_shapes", "output_classes"})


def check_attribute(
    node: cst.Attribute, scope: Scope, context: Context
) -> Diagnosis | None:
    """Rewrite ``dataset.output_types``, or point at what may be one."""
    if context.resolver.qualified(node) is not None:
        return None  # an attribute of some module
    owner = node.value
    if isinstance(owner, cst.Name) and owner.value in ("self", "cls"):
        return None
    name = node.attr.value
    function = f"tf.compat.v1.data.get_{name}"
    made_by = _made_by(owner, context)
    if made_by is not None:
        doors = context.resolver.door(made_by)
        symbol = context.resolver.resolve(made_by) or ""
        if not symbol.startswith("tf.data.") or doors is Door.COMPAT_V1:
            return None  # nothing of ours, or a v1 Dataset, which has them still
        context.want(node, owner, *getattr(owner, "lpar", ()))
        context.want(*getattr(owner, "rpar", ()))
        start, end = context.outer_span(owner)
        spelled = context.spell(function, scope)
        edit = context.replace(node, f"{spelled}({context.text[start:end]})")
        return Diagnosis(
            RULE.id, f"`Dataset.{name}` is `{function}` today", edits=(edit,)
        )
    if all(
        context.resolver.door(use.root) is not Door.PUBLIC
        for use in context.resolver.scopes.uses
        if use.root is not None
    ):
        return None  # everything here is tf.compat.v1's
    return Diagnosis(
        RULE.id,
        f"if this is a Dataset, `{name}` is gone: use `{function}` or element_spec",
        outcome=Outcome.ADVICE,
        safety=Safety.NEEDS_REVIEW,
    )


def _made_by(node: cst.BaseExpression, context: Context) -> cst.BaseExpression | None:
    """The function that a chain of methods starts with, if that can be seen."""
    for _ in range(40):
        if isinstance(node, cst.Call):
            if context.resolver.qualified(node.func) is not None:
                return node.func
            node = node.func
        elif isinstance(node, cst.Attribute):
            node = node.value
        elif isinstance(node, cst.Name):
            bound = context.resolver.bindings(node)
            if len(bound) != 1 or bound[0].value is None:
                return None
            node = bound[0].value
        else:
            return None
    return None
