"""Notes above what is left."""

from __future__ import annotations

import textwrap

import libcst as cst

from ...plan.code.tree import Statement

__all__ = ["MARK", "note"]

MARK = "TODO(tfmigrate)"


def note(statement: Statement, rule: str, reason: str, indent: int) -> Statement:
    """The statement under a note, unless it has one of that rule already."""
    for line in statement.leading_lines:
        if line.comment is not None and f"{MARK}: {rule}" in line.comment.value:
            return statement
    wrapped = textwrap.wrap(
        f"{MARK}: {rule} {reason}; see `tfmigrate explain {rule}`",
        max(40, 86 - indent),
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    lines = [cst.EmptyLine(comment=cst.Comment(f"# {text}")) for text in wrapped]
    return statement.with_changes(leading_lines=[*statement.leading_lines, *lines])
