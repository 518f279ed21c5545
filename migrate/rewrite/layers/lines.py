"""The statements of a constructor, as far as they turn out to be needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Line:
    """Code of the constructor: what it binds, reads, and is needed for."""

    code: str
    binds: set[str] = field(default_factory=set)
    reads: set[str] = field(default_factory=set)
    needed: bool = False
    inner: list[Line] | None = None
    other: list[Line] | None = None


def every(lines: Sequence[Line]) -> list[Line]:
    found: list[Line] = []
    for line in lines:
        found += [line, *every(line.inner or []), *every(line.other or [])]
    return found


def around(head: str, binds: set[str], reads: set[str], inner: list[Line]) -> Line:
    """A loop around some lines, which read its names from nowhere else."""
    for one in every(inner):
        one.reads = one.reads - binds
    return Line(head, binds, reads, inner=inner)


def need(lines: list[Line], wanted: set[str]) -> set[str]:
    """Marks the lines that are needed; gives every name that these read."""
    while True:
        before = len(wanted), sum(line.needed for line in every(lines))
        for line in reversed(every(lines)):
            parts = [*(line.inner or []), *(line.other or [])]
            if line.inner is not None:
                line.needed = line.needed or any(one.needed for one in parts)
            elif line.binds & wanted:
                line.needed = True
            if line.needed:
                wanted |= line.reads
        if (len(wanted), sum(line.needed for line in every(lines))) == before:
            return wanted


def rendered(lines: Sequence[Line], indent: str = "") -> list[str]:
    found: list[str] = []
    for line in lines:
        if not line.needed:
            continue
        if line.inner is None:
            found.append(indented(line.code, indent))
            continue
        inner = rendered(line.inner, indent + "    ") or [f"{indent}    pass\n"]
        code = indented(line.code, indent) + "".join(inner)
        rest = [one for one in line.other or [] if one.needed]
        if len(rest) == 1 and rest[0].inner is not None and rest[0].code[:3] == "if ":
            (chained,) = rendered(rest, indent)
            code += f"{indent}el{chained[len(indent) :]}"
        elif rest:
            code += f"{indent}else:\n" + "".join(rendered(rest, indent + "    "))
        found.append(code)
    return found


def indented(code: str, indent: str) -> str:
    return "".join(f"{indent}{line}" for line in code.splitlines(keepends=True))
