"""Lines of calls whose function has another name: joined, or aligned anew."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from ...names.ast_nodes import tree_of
from ...names.ast_nodes import walk as walk_ast
from ...project.text import Edit, Lines, apply_edits


def tidied(text: str, names: Collection[str], width: int) -> str:
    """Calls of some names, on one line where they fit, else with aligned arguments."""
    for _ in range(3):  # calls within calls
        lines = Lines(text)
        edits: list[Edit] = []
        for call in _calls(tree_of(text), names):
            edit = _joined(call, lines, width) or _aligned(call, lines)
            if edit is not None and all(
                e.end <= edit.start or e.start >= edit.end for e in edits
            ):
                edits.append(edit)
        if not edits:
            return text
        text = apply_edits(text, edits)
    return text


def _calls(tree: ast.AST, names: Collection[str]) -> Iterator[ast.Call]:
    for node in walk_ast(tree, ast.Call):
        if (
            isinstance(node.func, ast.Name)
            and node.func.id in names
            and node.end_lineno != node.lineno
        ):
            yield node


def _joined(call: ast.Call, lines: Lines, width: int) -> Edit | None:
    """All of a call on its first line, where its arguments began on the next."""
    assert call.end_lineno is not None
    assert call.func.end_col_offset is not None
    first = lines.line_text(call.lineno)
    if not first.isascii() or first[call.func.end_col_offset :] != "(":
        return None
    rest = [
        lines.line_text(line).strip()
        for line in range(call.lineno + 1, call.end_lineno + 1)
    ]
    if any("#" in line or '"""' in line or "'''" in line for line in rest):
        return None
    if len(rest) > 1 and rest[-2].endswith(",") and rest[-1].startswith(")"):
        return None  # one argument on each line
    whole = first
    for piece in rest:
        glued = whole.endswith(("(", "[", "{")) or piece.startswith((")", "]", "}"))
        whole += piece if glued else f" {piece}"
    if len(whole) > width:
        return None
    end = lines.starts[call.end_lineno - 1] + len(lines.line_text(call.end_lineno))
    return Edit(lines.starts[call.lineno - 1], end, whole)


def _aligned(call: ast.Call, lines: Lines) -> Edit | None:
    """Further lines of arguments below the first one, where they were before."""
    assert call.end_lineno is not None
    assert call.func.end_col_offset is not None
    first = lines.line_text(call.lineno)
    column = call.func.end_col_offset + 1
    if (
        not first.isascii()
        or first[column - 1 : column] != "("
        or not first[column:].strip()
    ):
        return None
    args = [*call.args, *(one.value for one in call.keywords)]
    starts = {
        len(text) - len(text.lstrip())
        for arg in args
        if arg.lineno > call.lineno
        for text in (lines.line_text(arg.lineno),)
    }
    if not starts or min(starts) <= column:
        return None
    inner = [
        lines.line_text(line) for line in range(call.lineno + 1, call.end_lineno + 1)
    ]
    if any('"""' in line or "'''" in line for line in inner):
        return None
    move = min(starts) - column
    moved = [line[move:] if line[:move].isspace() else line for line in inner]
    start = lines.starts[call.lineno]
    end = lines.starts[call.end_lineno - 1] + len(lines.line_text(call.end_lineno))
    return Edit(start, end, "\n".join(moved))


def wrapped(text: str, old: str, width: int) -> str:
    """New lines that are too long, broken in their calls."""
    before = set(old.splitlines())
    for _ in range(9):
        lines = Lines(text)
        long = {
            number
            for number, line in enumerate(text.split("\n"), 1)
            if len(line) > width and line not in before and line.isascii()
        }
        edit = _broken(text, lines, long, width) if long else None
        if edit is None:
            break
        text = apply_edits(text, edit)
    return text


def _broken(
    text: str, lines: Lines, long: Collection[int], width: int
) -> list[Edit] | None:
    """Breaks of the first call that makes its line shorter."""
    hanging = re.search(r"(?m)^[ \t]*\),?$", text) is not None
    tree = tree_of(text)
    # Comprehensions are broken before their `for`, later.
    held = {
        one
        for comp in walk_ast(tree, ast.ListComp, ast.GeneratorExp)
        for one in walk_ast(comp, ast.Call)
    }
    for node in walk_ast(tree, ast.Call):
        if node.lineno not in long or node in held:
            continue
        line = lines.line_text(node.lineno)
        assert node.func.end_col_offset is not None
        assert node.end_col_offset is not None
        args = [*node.args, *node.keywords]
        column = line.find("(", node.func.end_col_offset) + 1
        ends = {node.lineno, node.end_lineno, node.func.end_lineno}
        if not args or len(ends) > 1 or not column:
            continue
        outer = " " * (len(line) - len(line.lstrip()))
        if column <= len(outer) + 4:
            continue
        start = lines.starts[node.lineno - 1]
        inside = node.end_col_offset - 1 if hanging else len(line)
        places = [column]
        if len(outer) + 4 + inside - column > width:
            places += [_begin(line, one) for one in args[1:]]
        edits = []
        for place in places:
            first = start + place
            while text[first - 1] == " ":
                first -= 1
            edits.append(Edit(first, start + place, f"\n{outer}    "))
        if hanging:
            end = start + node.end_col_offset - 1
            comma = "," if len(places) > 1 else ""
            edits.append(Edit(end, end, f"{comma}\n{outer}"))
        return edits
    return None


def _begin(line: str, node: ast.AST) -> int:
    """The column of an argument with its keyword and parentheses."""
    column = int(node.col_offset)  # type: ignore[attr-defined]
    while line[:column].rstrip().endswith("("):
        column = len(line[:column].rstrip()) - 1
    return column
