"""The loss of a model_fn: the statements that make it, example by example if so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from ..code.statements import binds
from ..code.texts import source_text
from ..code.tree import Statement, only_small
from ..program import TF
from .sections import LOSSES, Sections

__all__ = ["LossCode", "read_loss"]


@dataclass(frozen=True)
class LossCode:
    """Statements that make a loss, and the expression that it then is.

    With ``per_example`` the last statement assigns ``losses``, one for each
    example.
    """

    statements: tuple[str, ...]
    expression: str
    per_example: bool


def read_loss(
    sections: Sections,
    statements: Sequence[Statement],
    node: cst.BaseExpression,
    mode: str,
    *,
    split: bool,
) -> LossCode:
    """The loss that a spec names, after the statements of its mode."""
    names = {node.value} if isinstance(node, cst.Name) else set()
    if not names:
        raise sections.source.stop(node, "the loss is not held in a variable")
    wanted = sections.slice(statements, names)
    (name,) = names
    if not wanted:
        raise sections.source.stop(node, f"it is not seen how `{name}` is made")
    for statement in wanted:
        sections.check(statement)
    if split:
        found = _per_example(sections, wanted, statements, name, mode)
        if found is not None:
            return found
    code = tuple(sections.code(s, mode) for s in wanted)
    return LossCode(code, name, False)


def _per_example(
    sections: Sections,
    wanted: list[Statement],
    statements: Sequence[Statement],
    name: str,
    mode: str,
) -> LossCode | None:
    """The loss before it is averaged, where the last step is a plain average."""
    last = only_small(wanted[-1])
    if not isinstance(last, cst.Assign) or sum(name in binds(s) for s in wanted) != 1:
        return None
    if not isinstance(last.value, cst.Call):
        return None
    call = last.value
    symbol = sections.tree.symbol(call.func)
    keywords = {a.keyword.value for a in call.args if a.keyword is not None}
    if symbol in LOSSES and len(call.args) <= 2:
        if not keywords <= {"labels", "logits", "predictions", "onehot_labels"} | {
            "multi_class_labels"
        }:
            return None
        args = [a.with_changes(comma=cst.MaybeSentinel.DEFAULT) for a in call.args]
        none = cst.Arg(cst.SimpleString('"none"'), keyword=cst.Name("reduction"))
        equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
        call = call.with_changes(args=[*args, none.with_changes(equal=equal)])
        short = symbol.removeprefix("tf.losses.")
        inside = [
            source_text(a.with_changes(value=cst.Name("_"))).rpartition("_")[0]
            + sections.expression(a.value, mode)
            for a in args
        ]
        code = f'{TF}.compat.v1.losses.{short}({", ".join(inside)}, reduction="none")'
    elif symbol == "tf.reduce_mean" and len(call.args) == 1 and not keywords:
        code = sections.expression(call.args[0].value, mode)
    else:
        return None
    lines = [sections.code(s, mode) for s in wanted[:-1]]
    lines += sections.source.comments(wanted[-1])
    return LossCode((*lines, f"losses = {code}\n"), "losses", True)
