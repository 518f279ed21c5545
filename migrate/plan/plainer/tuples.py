"""``a, b = helper()``: what a helper returns as a tuple, taken apart by its caller."""

from __future__ import annotations

import libcst as cst

from ..code.tree import Statement, walk

__all__ = ["assignment", "one_by_one"]


def assignment(name: str, value: cst.BaseExpression) -> cst.SimpleStatementLine:
    """``name = value``."""
    target = cst.AssignTarget(cst.Name(name))
    return cst.SimpleStatementLine([cst.Assign([target], value)])


def one_by_one(
    call: cst.Call, small: cst.BaseSmallStatement, value: cst.BaseExpression | None
) -> list[Statement] | None:
    """``a, b = helper()`` one by one, where the helper returns a tuple."""
    if (
        not isinstance(value, cst.Tuple)
        or not isinstance(small, cst.Assign)
        or small.value is not call
        or len(small.targets) != 1
    ):
        return None
    target = small.targets[0].target
    if not isinstance(target, cst.Tuple):
        return None
    names = [e.value for e in target.elements]
    values = [e.value for e in value.elements]
    if len(names) != len(values) or any(
        isinstance(e, cst.StarredElement) for e in (*target.elements, *value.elements)
    ):
        return None
    parts: list[Statement] = []
    set_before: set[str] = set()
    for name, one in zip(names, values, strict=True):
        if not isinstance(name, cst.Name):
            return None
        read = {n.value for n in walk(one) if isinstance(n, cst.Name)}
        if read & (set_before - {one.value if isinstance(one, cst.Name) else ""}):
            return None
        set_before.add(name.value)
        if not (isinstance(one, cst.Name) and one.value == name.value):
            parts.append(assignment(name.value, one))
    return parts
