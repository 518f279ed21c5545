"""Notes above what is left, and what a module tells of its TensorFlow."""

from __future__ import annotations

import textwrap

import libcst as cst

from ...plan.code.tree import Statement, Tree, walk

__all__ = ["MARK", "names_compat_v1", "note"]

MARK = "TODO(tfmigrate)"


def names_compat_v1(tree: Tree) -> bool:
    """Whether a module writes ``tf.compat.v1.`` itself: it was written for TF 2."""
    return any(
        isinstance(node, cst.Attribute)
        and node.attr.value == "v1"
        and tree.resolver.qualified(node) == "tensorflow.compat.v1"
        for node in walk(tree.module)
    )


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
