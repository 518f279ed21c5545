"""Puts the training module into a cell of a notebook, or into a text from a pipe."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import libcst as cst
from tfmigrate.compat.notebooks import NEW_CELL

from ..names.dotted import import_path
from ..names.scope_builder import build_scopes
from ..names.scopes import Binding, BindingKind
from ..project.facts import ParsedModule
from ..project.parsing import parse
from ..project.text import Edit, apply_edits
from ..rules.context import Context
from ..training import training_module

_CELL = re.compile(r"(?m)^__tfmigrate_cell_\d+__[ \t]*$")
_DOCSTRING = re.compile(r'\A"""(.*?)"""\n*', re.DOTALL)
_RULE = "# " + "-" * 78 + "\n"


class Clash(Exception):
    """The file has a name of its own that the training module has too."""


def put_inside(parsed: ParsedModule, module: str, words: Iterable[str]) -> str:
    """The text of a file that imports a training module, with that in its place.

    Raises Clash where a name would have two meanings.
    """
    context = Context(parsed.source.text, parsed.module, parsed.resolver)
    imports = [*_imports(parsed, module)]
    block = _block(training_module(words))
    _check_names(parsed, module, block)
    edits = [_without(context, line, node) for line, node in imports]
    if parsed.source.notebook is not None:
        place = _cell_of_first_use(parsed, context, imports)
        edits.append(Edit(place, place, f"{NEW_CELL}\n{block}\n"))
    else:
        place = _below_imports(context, [line for line, _ in imports])
        text = f"\n\n{_RULE}{block}\n\n{_RULE}"
        newline = context.module.default_newline
        edits.append(Edit(place, place, text.replace("\n", newline)))
    return apply_edits(context.text, edits)


def _block(text: str) -> str:
    """A module's text as part of a file: what it says of itself is a comment."""
    return _DOCSTRING.sub(r"# \1\n", text).strip("\n")


def _imports(
    parsed: ParsedModule, module: str
) -> Iterator[tuple[cst.SimpleStatementLine, cst.ImportFrom]]:
    """The statements at the left margin that take something from the module."""
    for line in parsed.module.body:
        if isinstance(line, cst.SimpleStatementLine):
            for small in line.body:
                if not isinstance(small, cst.ImportFrom) or small.relative:
                    continue
                if import_path(small.module) == module:
                    yield line, small


def _without(
    context: Context, line: cst.SimpleStatementLine, node: cst.ImportFrom
) -> Edit:
    """The edit that takes an import out."""
    start, end = context.span(node)
    if len(line.body) > 1:
        return Edit(start, end, "pass")
    starts = context.lines.starts
    first, last = context.lines.place(start)[0], context.lines.place(end)[0]
    stop = starts[last] if last < len(starts) else len(context.text)
    return Edit(starts[first - 1], stop, "")


def _cell_of_first_use(
    parsed: ParsedModule,
    context: Context,
    imports: list[tuple[cst.SimpleStatementLine, cst.ImportFrom]],
) -> int:
    """Where the cell begins that first asks for a name of the module."""
    nodes = {node for _, node in imports}
    named = {
        name
        for name, bindings in parsed.resolver.scopes.module_scope.bindings.items()
        if any(one.node in nodes for one in bindings)
    }
    uses = [node for node in parsed.resolver.scopes.loads if node.value in named]
    first = min((context.span(node)[0] for node in uses), default=0)
    cells = (found.start() for found in _CELL.finditer(context.text))
    return max((start for start in cells if start <= first), default=0)


def _below_imports(context: Context, lines: list[cst.SimpleStatementLine]) -> int:
    """Where the imports end that stand together with those of the module."""
    body = context.module.body
    last = max(map(body.index, lines))
    while last + 1 < len(body) and _only_imports(body[last + 1]):
        last += 1
    line, _ = context.lines.place(context.span(body[last])[1])
    starts = context.lines.starts
    return starts[line] if line < len(starts) else len(context.text)


def _only_imports(statement: cst.CSTNode) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and all(
        isinstance(small, (cst.Import, cst.ImportFrom)) for small in statement.body
    )


def _check_names(parsed: ParsedModule, module: str, block: str) -> None:
    """Raises Clash where the file binds a name of the module to something else."""
    mine = build_scopes(parse(block)).module_scope.bindings
    theirs = parsed.resolver.scopes.module_scope.bindings
    for name, bindings in mine.items():
        for other in theirs.get(name, ()):
            same = any(_is_same_import(one, other) for one in bindings)
            if not same and not (other.target or "").startswith(f"{module}."):
                raise Clash(f"it has a `{name}` of its own, as its training loop does")


def _is_same_import(one: Binding, other: Binding) -> bool:
    return (
        one.kind is other.kind is BindingKind.IMPORT
        and one.target == other.target
        and not other.relative
    )
