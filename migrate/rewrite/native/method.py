"""A method of a class that is written, as text."""

from __future__ import annotations

from dataclasses import dataclass

from . import tidy


@dataclass
class Method:
    """A method: its parameters, its statements and what it returns."""

    name: str
    parameters: tuple[str, ...]
    lines: list[str]
    returned: str | None = None

    def text(self) -> str:
        lines = [tidy.folded(line) for line in self.lines]
        value = None if self.returned is None else tidy.folded(self.returned)
        lines = tidy.without_unread(lines, value)
        lines, value = tidy.without_aliases(lines, value)
        lines, value = tidy.read_by_name(lines, value)
        if value is not None:
            lines, returned = tidy.returning(lines, value)
            lines = [*lines, f"return {returned}\n"]
        body = tidy.indented("".join(_apart(lines)))
        return f"def {self.name}({', '.join(('self', *self.parameters))}):\n{body}"


def _apart(lines: list[str]) -> list[str]:
    """Statements with an empty line above and below functions among them."""
    found: list[str] = []
    for line in lines:
        above = found[-1].lstrip("\n") if found else ""
        defines = any(one.startswith(("def ", "@")) for one in (line, above))
        found.append(f"\n{line}" if above and defines else line)
    return found
