"""What TF2's Dataset lost: methods and attributes become functions of compat.v1."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..names.names import Door
from ..names.scopes import Scope
from ..project.text import Edit
from .base import Diagnosis, advised
from .context import Context

_METHODS = ("make_one_shot_iterator", "make_initializable_iterator")
_ATTRIBUTES = ("output_types", "output_shapes", "output_classes")


def diagnoses(context: Context) -> Iterator[tuple[cst.CSTNode, Diagnosis]]:
    """Methods and attributes of datasets, told by their names."""
    if not context.knows_tensorflow:
        return
    scopes = context.resolver.scopes
    for call in scopes.calls.values():
        if isinstance(call.func, cst.Attribute) and call.func.attr.value in _METHODS:
            diagnosis = _of_method(call, call.func, context)
            if diagnosis is not None:
                yield call.func, diagnosis
    for use in scopes.uses:
        node: cst.BaseExpression = use.node
        while isinstance(node, cst.Attribute):
            if node.attr.value in _ATTRIBUTES:
                diagnosis = _of_attribute(node, use.scope, context)
                if diagnosis is not None:
                    yield node, diagnosis
            node = node.value


def _of_method(
    call: cst.Call, function: cst.Attribute, context: Context
) -> Diagnosis | None:
    """Rewrite ``dataset.make_..._iterator(...)``."""
    if context.resolver.qualified(function) is not None:
        return None  # a function of some module, not a method
    owner = function.value
    if isinstance(owner, cst.Name) and owner.value in ("self", "cls", "super"):
        return None
    if any(a.star or a.keyword is None for a in call.args):
        return None
    name = f"tf.compat.v1.data.{function.attr.value}"
    spelled = context.spell(name, context.scope_of(owner))
    owner_start, owner_end = context.outer_span(owner)
    edits = [Edit(owner_start, owner_start, f"{spelled}(")]
    if call.args:
        opening = context.text.index("(", context.span(function)[1])
        edits.append(Edit(owner_end, opening + 1, ", "))
    else:
        edits.append(Edit(owner_end, context.span(call)[1], ")"))
    said = f"`Dataset.{function.attr.value}` is `{name}` today"
    return Diagnosis("TFM401", said, tuple(edits))


def _of_attribute(
    node: cst.Attribute, scope: Scope, context: Context
) -> Diagnosis | None:
    """Rewrite ``dataset.output_types``, or point at what may be one."""
    resolver = context.resolver
    if resolver.qualified(node) is not None:
        return None  # an attribute of some module
    owner = node.value
    if isinstance(owner, cst.Name) and owner.value in ("self", "cls"):
        return None
    name = node.attr.value
    function = f"tf.compat.v1.data.get_{name}"
    made_by = _made_by(owner, context)
    if made_by is not None:
        symbol = resolver.resolve(made_by) or ""
        v1 = resolver.door(made_by) is Door.COMPAT_V1
        if v1 or not symbol.startswith("tf.data."):
            return None  # nothing of ours, or a v1 Dataset, which has them still
        start, end = context.outer_span(owner)
        new = f"{context.spell(function, scope)}({context.text[start:end]})"
        said = f"`Dataset.{name}` is `{function}` today"
        return Diagnosis("TFM402", said, (context.replace(node, new),))
    roots = (use.root for use in resolver.scopes.uses if use.root is not None)
    if all(resolver.door(root) is not Door.PUBLIC for root in roots):
        return None  # everything here is tf.compat.v1's
    return advised(
        "TFM402",
        f"if this is a Dataset, `{name}` is gone: use `{function}` or element_spec",
    )


def _made_by(
    node: cst.BaseExpression, context: Context, within: frozenset[str] = frozenset()
) -> cst.BaseExpression | None:
    """The function that a chain of methods starts with, if that can be seen.

    A name may be bound again to what a method of it gives: ``within`` are the names
    whose values are being followed.
    """
    while isinstance(node, (cst.Call, cst.Attribute)):
        if isinstance(node, cst.Call):
            if context.resolver.qualified(node.func) is not None:
                return node.func
            node = node.func
        else:
            node = node.value
    return _bound_to(node, context, within) if isinstance(node, cst.Name) else None


def _bound_to(
    node: cst.Name, context: Context, within: frozenset[str]
) -> cst.BaseExpression | None:
    inside = within | {node.value}
    found: list[cst.BaseExpression] = []
    for binding in context.resolver.bindings(node):
        if _first_name(binding.value) in inside:
            continue  # of itself, as it was
        made = binding.value and _made_by(binding.value, context, inside)
        if made is None:
            return None
        found.append(made)
    symbols = ((context.resolver.resolve(one) or "", one) for one in found)
    kinds = {
        (symbol.startswith("tf.data."), context.resolver.door(one))
        for symbol, one in symbols
    }
    return found[0] if len(kinds) == 1 else None


def _first_name(node: cst.BaseExpression | None) -> str | None:
    """The name that a chain of methods hangs on."""
    while isinstance(node, (cst.Call, cst.Attribute)):
        node = node.func if isinstance(node, cst.Call) else node.value
    return node.value if isinstance(node, cst.Name) else None
