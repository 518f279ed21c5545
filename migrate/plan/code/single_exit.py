"""Functions that return in several places, as statements that assign a name."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from .tree import Statement, only_small, statements_of, walk

__all__ = ["single_exit"]


def single_exit(body: Sequence[Statement], name: str) -> list[Statement] | None:
    """The statements with ``name = value`` for each return.

    None where a return stands inside of anything but branches, or where the end
    can be reached without one.
    """
    for place, statement in enumerate(body):
        small = only_small(statement)
        if isinstance(small, cst.Raise):
            return list(body[: place + 1])
        if isinstance(small, cst.Return):
            if small.value is None:
                return None
            if isinstance(small.value, cst.Name) and small.value.value == name:
                return list(body[:place]) or None
            target = cst.AssignTarget(cst.Name(name))
            line = statement.with_changes(body=[cst.Assign([target], small.value)])
            return [*body[:place], line]
        if not any(isinstance(node, cst.Return) for node in walk(statement)):
            continue
        if not isinstance(statement, cst.If):
            return None
        branch = _branch(statement, body[place + 1 :], name)
        return None if branch is None else [*body[:place], branch]
    return None


def _branch(statement: cst.If, rest: Sequence[Statement], name: str) -> cst.If | None:
    """A branch each side of which ends with the value; ``rest`` is what is left."""
    if not isinstance(statement.body, cst.IndentedBlock):
        return None
    inside = single_exit(statements_of(statement.body), name)
    if inside is None:
        return None
    orelse: cst.If | cst.Else | None
    if isinstance(statement.orelse, cst.If):
        orelse = _branch(statement.orelse, rest, name)
    elif statement.orelse is not None:
        block = statement.orelse.body
        if not isinstance(block, cst.IndentedBlock):
            return None
        other = single_exit([*statements_of(block), *rest], name)
        orelse = None if other is None else _else(statement.orelse, block, other)
    else:
        other = single_exit(rest, name)
        orelse = None
        if other is not None:
            orelse = cst.Else(body=cst.IndentedBlock(other))
    if orelse is None:
        return None
    block = statement.body
    return statement.with_changes(body=block.with_changes(body=inside), orelse=orelse)


def _else(
    node: cst.Else, block: cst.IndentedBlock, body: Sequence[Statement]
) -> cst.Else:
    return node.with_changes(body=block.with_changes(body=body))
