"""The text of a bundled module: imports, and definitions under their new names."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..project.long_lines import WIDTH, with_short_lines
from .cutting import cut_out
from .parts import Imported, Item, Part
from .reach import Entity, Reach

__all__ = ["write_body", "write_imports", "write_module"]


def write_imports(
    reach: Reach, names: Mapping[Entity, str], bound: Mapping[str, str | None]
) -> list[str]:
    """The import sections that the definitions need beside those already bound."""
    return _imports(
        {
            site.entity: names[site.entity]
            for kept in reach.kept.values()
            for site in kept.sites
            if isinstance(site.entity, Imported) and names[site.entity] not in bound
        }
    )


def write_body(reach: Reach, parts: Sequence[Part], names: Mapping[Entity, str]) -> str:
    """The definitions, each part's below a comment that says what it is about."""
    text = ""
    for part in parts:
        kept = [item for item in part.items if item in reach.kept]
        if text:
            text += "\n\n"
        if len(parts) > 1 and part.doc:
            text += _comment(part.doc)
            text += "\n" if kept[0].is_simple else "\n\n"
        text += _definitions(reach, part, kept, names)
    return with_short_lines(text, "\n".join(part.text for part in parts))


def write_module(doc: str, imports: Sequence[str], body: str) -> str:
    """The text of a module of its own."""
    text = f'"""{doc}"""\n\nfrom __future__ import annotations\n'
    text += "".join(f"\n{section}" for section in imports)
    below = body.startswith(("def ", "class ", "@", "async "))
    return text + ("\n\n" if below else "\n") + body


def _comment(doc: str) -> str:
    """A part's docstring as the comment above its definitions."""
    paragraphs = textwrap.dedent("    " + doc).strip().split("\n\n")
    lines: list[str] = []
    for paragraph in paragraphs:
        if lines:
            lines.append("#")
        words = " ".join(paragraph.split())
        lines += textwrap.wrap(
            words,
            WIDTH,
            initial_indent="# ",
            subsequent_indent="# ",
            break_on_hyphens=False,
            break_long_words=False,
        )
    return "\n".join(lines) + "\n"


def _definitions(
    reach: Reach, part: Part, kept: Sequence[Item], names: Mapping[Entity, str]
) -> str:
    text = ""
    last: Item | None = None
    for item in kept:
        code = cut_out(reach, item, names)
        if last is not None:
            adjacent = (
                last.is_simple
                and item.is_simple
                and item.index == last.index + 1
                and not any(
                    line.comment is None for line in item.node.leading_lines[:1]
                )
            )
            blank = 0 if adjacent else 1 if last.is_simple and item.is_simple else 2
            text += "\n" * blank
        text += code
        last = item
    return text


def _imports(found: Mapping[Entity, str]) -> list[str]:
    """Import sections: Python's own, installed packages, the user's modules."""
    plain: dict[str, list[str]] = {}
    chosen: dict[str, list[tuple[str, str]]] = {}
    for entity, name in found.items():
        assert isinstance(entity, Imported)
        if entity.attribute is None:
            bare = entity.module.split(".")[0] == name
            line = f"import {entity.module}" + ("" if bare else f" as {name}")
            plain.setdefault(entity.module, []).append(line)
        else:
            chosen.setdefault(entity.module, []).append((entity.attribute, name))
    sections = []
    for rank in range(3):
        lines = [
            line
            for module in sorted(plain, key=_module_key)
            if _section(module) == rank
            for line in sorted(plain[module])
        ]
        for module in sorted(chosen, key=_module_key):
            if _section(module) == rank:
                lines += _from_lines(module, chosen[module])
        if lines:
            sections.append("\n".join(lines) + "\n")
    return sections


_INSTALLED = ("tensorflow", "tf_keras", "numpy", "keras", "sklearn", "google")


def _section(module: str) -> int:
    root = module.split(".")[0]
    if root in sys.stdlib_module_names:
        return 0
    return 1 if root in _INSTALLED else 2


def _module_key(module: str) -> tuple[str, ...]:
    return (module.lower(), module)


def _from_lines(module: str, members: Iterable[tuple[str, str]]) -> Iterator[str]:
    """The imports of a module's names: those of another name each by itself."""
    ordered = sorted(set(members), key=_member_key)
    plain = [name for name, alias in ordered if name == alias]
    groups = [[one] for one in ordered if one[0] != one[1]]
    if plain:
        groups.append([(name, name) for name in plain])
    for group in sorted(groups, key=lambda one: _member_key(one[0])):
        shown = [n if n == alias else f"{n} as {alias}" for n, alias in group]
        line = f"from {module} import {', '.join(shown)}"
        if len(line) > WIDTH:
            yield f"from {module} import ("
            yield from (f"    {name}," for name in shown)
            line = ")"
        yield line


def _member_key(member: tuple[str, str]) -> tuple[int, str, str]:
    """Constants, classes, others: as import sorters have it."""
    name = member[0]
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return kind, name, member[1]
