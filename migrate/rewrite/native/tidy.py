"""Small changes to statements as text: what nobody reads goes, layout is mended."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

__all__ = [
    "assigned_to",
    "held",
    "indented",
    "listed",
    "returning",
    "without_aliases",
    "without_unread",
]


def indented(text: str, by: str = "    ") -> str:
    """The text with each line that has something moved to the right.

    Lines inside of strings that go over several lines stay where they are.
    """
    inside = _lines_in_strings(text)
    lines = text.split("\n")
    return "\n".join(
        line if not line or number in inside else by + line
        for number, line in enumerate(lines, 1)
    )


def listed(target: str, items: Sequence[str]) -> str:
    """``target = [...]``, in one line where it is short, else a line for each item."""
    return f"{target} = {held('[]', items, len(target) + 3)}\n"


def held(around: str, items: Sequence[str], place: int) -> str:
    """Items in brackets, behind so many characters of their line."""
    line = f"{around[0]}{', '.join(items)}{around[1]}"
    if len(line) + place < 79 and "\n" not in line:
        return line
    inside = "".join(indented(f"{item},\n") for item in items)
    return f"{around[0]}\n{inside}{around[1]}"


def _lines_in_strings(text: str) -> set[int]:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return set()
    found: set[int] = set()
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and node.end_lineno:
            if isinstance(node, ast.Constant) and not isinstance(
                node.value, (str, bytes)
            ):
                continue
            if id(node) not in docstrings and _is_one_string(text, node):
                found |= set(range(node.lineno + 1, node.end_lineno + 1))
    return found


def _is_one_string(text: str, node: ast.expr) -> bool:
    """Not several strings side by side, whose lines may move."""
    code = ast.get_source_segment(text, node) or ""
    return '"""' in code or "'''" in code


def without_unread(lines: Sequence[str], returned: str | None) -> list[str]:
    """Statements without plain assignments to names that nothing reads later."""
    kept: list[str] = []
    wanted: set[str] = _loads(returned) if returned is not None else set()
    inner: set[str] = set()
    for line in reversed(lines):
        statement = ast.parse(line).body
        first = statement[0] if len(statement) == 1 else None
        if isinstance(first, ast.Assign) and all(
            isinstance(one, (ast.Name, ast.Tuple)) for one in first.targets
        ):
            names = {
                n.id
                for target in first.targets
                for n in ast.walk(target)
                if isinstance(n, ast.Name)
            }
            if not names & (wanted | inner):
                continue
            wanted -= names
        else:
            # A branch or a loop may leave a name as it was.
            pass
        wanted |= _loads(line)
        kept.append(line)
    return kept[::-1]


def without_aliases(
    lines: Sequence[str], returned: str | None
) -> tuple[list[str], str | None]:
    """Statements without second names for what has one: ``net = features``."""
    found = list(lines)
    for place, line in enumerate(lines):
        match = re.fullmatch(r"(\w+) = (\w+)\n", line)
        if match is None or match[2] in ("None", "True", "False"):
            continue
        name, other = match.groups()
        rest = [one for index, one in enumerate(found) if index != place]
        bound = [n for one in rest for n in _stores(one)]
        later = "".join(found[place + 1 :]) + (returned or "")
        if name in bound or other in bound or re.search(rf"['\"{{]{name}\b", later):
            continue
        found[place] = ""
        named = re.compile(rf"(?<![\w.]){name}(?!\w|=[^=])")
        found = [
            one if i < place else named.sub(other, one) for i, one in enumerate(found)
        ]
        returned = None if returned is None else named.sub(other, returned)
    return [one for one in found if one], returned


def _stores(code: str) -> set[str]:
    return _names(code, ast.Store)


def returning(lines: Sequence[str], returned: str) -> tuple[list[str], str]:
    """``x = f(y)`` and ``return x`` become ``return f(y)``."""
    if _gives(lines, returned) and "#" not in lines[-1]:
        start = lines[-1].index("=") + 1
        return list(lines[:-1]), lines[-1][start:].strip()
    return list(lines), returned


def assigned_to(target: str, lines: Sequence[str], value: str) -> list[str]:
    """Statements that give a value to a target, without a name in between."""
    if _gives(lines, value):
        changed = re.sub(
            rf"^{value} =", f"{target} =", lines[-1], count=1, flags=re.MULTILINE
        )
        return [*lines[:-1], changed]
    return [*lines, f"{target} = {value}\n"]


def _gives(lines: Sequence[str], name: str) -> bool:
    """The last statement gives a name its value."""
    last = ast.parse(lines[-1]).body if lines and name.isidentifier() else []
    one = last[0] if len(last) == 1 else None
    return (
        isinstance(one, ast.Assign)
        and len(one.targets) == 1
        and isinstance(one.targets[0], ast.Name)
        and one.targets[0].id == name
    )


def _loads(code: str) -> set[str]:
    return _names(code, ast.Load, ast.Del)


def _names(code: str, *contexts: type[ast.expr_context]) -> set[str]:
    return {
        node.id
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Name) and isinstance(node.ctx, contexts)
    }
