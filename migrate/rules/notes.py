"""TODO notes in the user's source: one per rule and statement, never twice."""

from __future__ import annotations

import re
import textwrap

from ..project.text import Edit
from .context import Context

MARK = "TODO(tfmigrate)"
_COMMENT = re.compile(r"[ \t]*#")


def note_edit(offset: int, rule: str, text: str, context: Context) -> Edit | None:
    """An edit that puts a note above the line of ``offset``, if none is there."""
    line, _ = context.lines.place(offset)
    own = context.lines.line_text(line)
    above = line - 1
    while above >= 1 and _COMMENT.match(context.lines.line_text(above)):
        if f"{MARK}: {rule}" in context.lines.line_text(above):
            return None
        above -= 1
    indent = own[: len(own) - len(own.lstrip())]
    newline = context.module.default_newline
    width = max(40, 88 - len(indent.expandtabs(8)))
    wrapped = textwrap.wrap(
        f"{MARK}: {rule} {text}; see `tfmigrate explain {rule}`",
        width - 2,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    body = "".join(f"{indent}# {part}{newline}" for part in wrapped)
    start = context.lines.starts[line - 1]
    return Edit(start, start, body)
