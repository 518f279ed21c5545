"""Where ``import tensorflow as tf`` goes when the edits need it."""

from __future__ import annotations

import libcst as cst

from ..code.statements import is_docstring
from ..code.tree import only_small
from ..names.dotted import dotted_name
from ..names.names import canonical
from ..project.text import Edit
from .context import Context


def import_edit(name: str, context: Context) -> Edit:
    """``import tensorflow as NAME`` above the first TensorFlow import."""
    text = "import tensorflow"
    if name != "tensorflow":
        text += f" as {name}"
    text += context.module.default_newline
    scopes = context.resolver.scopes
    top = [
        use
        for use in scopes.imports
        if use.scope is scopes.module_scope and use.statement in context.module.body
    ]
    chosen = next(
        (u for u in top if imports_tensorflow(u.node)), top[-1] if top else None
    )
    if chosen is not None and chosen.statement is not None:
        start, end = context.span(chosen.statement)
        if imports_tensorflow(chosen.node):
            return Edit(start, start, text)
        line, _ = context.lines.place(end)
        starts = context.lines.starts
        if line < len(starts):
            return Edit(starts[line], starts[line], text)
    return _after_docstring(text, context)


def _after_docstring(text: str, context: Context) -> Edit:
    starts = context.lines.starts
    for statement in context.module.body:
        if is_docstring(statement) or _is_of_future(statement):
            line, _ = context.lines.place(context.span(statement)[1])
            if line < len(starts):
                return Edit(starts[line], starts[line], text)
            continue
        line, _ = context.lines.place(context.span(statement)[0])
        begin = starts[line - 1]
        return Edit(begin, begin, text)
    return Edit(0, 0, text)


def imports_tensorflow(node: cst.Import | cst.ImportFrom) -> bool:
    """Whether an import statement names a module of TensorFlow."""
    if isinstance(node, cst.ImportFrom):
        names = [node.module]
    else:
        names = [alias.name for alias in node.names]
    dotted = (dotted_name(name) for name in names if name is not None)
    return any(canonical(path) is not None for path in dotted if path)


def _is_of_future(statement: cst.CSTNode) -> bool:
    small = only_small(statement)
    return (
        isinstance(small, cst.ImportFrom)
        and isinstance(small.module, cst.Name)
        and small.module.value == "__future__"
    )
