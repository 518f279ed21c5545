"""Dataset.output_types and its kin become functions of compat.v1.data."""

from __future__ import annotations

import libcst as cst

from ..names.names import Door
from ..names.scopes import Scope
from ..report.findings import Outcome, Safety
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
        (
            "import tensorflow as tf\n\n"
            "ds = tf.data.Dataset.range(3)\nds = ds.map(abs).batch(2)\n"
            "print(ds.output_shapes)\n",
            "import tensorflow as tf\n\n"
            "ds = tf.data.Dataset.range(3)\nds = ds.map(abs).batch(2)\n"
            "print(tf.compat.v1.data.get_output_shapes(ds))\n",
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


def _made_by(
    node: cst.BaseExpression, context: Context, within: frozenset[str] = frozenset()
) -> cst.BaseExpression | None:
    """The function that a chain of methods starts with, if that can be seen.

    A name may be bound again to what a method of it gives: ``within`` are the names
    whose values are being followed.
    """
    for _ in range(40):
        if isinstance(node, cst.Call):
            if context.resolver.qualified(node.func) is not None:
                return node.func
            node = node.func
        elif isinstance(node, cst.Attribute):
            node = node.value
        elif isinstance(node, cst.Name):
            return _bound_to(node, context, within)
        else:
            return None
    return None


def _bound_to(
    node: cst.Name, context: Context, within: frozenset[str]
) -> cst.BaseExpression | None:
    values = [binding.value for binding in context.resolver.bindings(node)]
    inside = within | {node.value}
    starts = []
    for value in values:
        if value is None:
            return None
        if _first_name(value) in inside:
            continue  # of itself, as it was
        starts.append(_made_by(value, context, inside))
    found = [start for start in starts if start is not None]
    if not found or len(found) < len(starts):
        return None
    kinds = {
        (
            (context.resolver.resolve(one) or "").startswith("tf.data."),
            context.resolver.door(one),
        )
        for one in found
    }
    return found[0] if len(kinds) == 1 else None


def _first_name(node: cst.BaseExpression) -> str | None:
    """The name that a chain of methods hangs on."""
    while isinstance(node, (cst.Call, cst.Attribute)):
        node = node.func if isinstance(node, cst.Call) else node.value
    return node.value if isinstance(node, cst.Name) else None
