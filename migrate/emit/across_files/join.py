"""A program spread over files as one module, so that it is read as a whole.

Recognisers and emitters work on one module. For a program whose model_fn, input
functions or hooks live in other files of the project, those files are put in
front of the main one, each between marker statements; imports become markers
too, and a name that led to another file becomes the bare name it has there.
``project_split`` undoes all of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import libcst as cst

from ...project.facts import Definition, ParsedModule, ProjectFacts
from ...project.positions import spans
from ...project.text import Edit, Lines, apply_edits
from ...symbols.dotted import import_path
from ...symbols.names import door
from ...symbols.scopes import BindingKind, Scope

__all__ = ["CannotJoin", "Imported", "Joined", "Part", "import_mark", "join", "mark"]


# No program is known to need as many; a web of packages has no end.
_MOST_FILES = 40


class CannotJoin(Exception):
    """Why the files of a program cannot be read as one module."""


@dataclass(frozen=True)
class Imported:
    """One name of an import: ``name`` is None when a module itself is imported."""

    bound: str
    module: str
    name: str | None
    asname: str | None = None

    def text(self) -> str:
        """The import as a statement of its own, with an absolute path."""
        alias = f" as {self.asname}" if self.asname else ""
        if self.name is None:
            return f"import {self.module}{alias}"
        return f"from {self.module} import {self.name}{alias}"

    @property
    def dotted(self) -> str:
        """The path of what is imported."""
        return self.module if self.name is None else f"{self.module}.{self.name}"


@dataclass(eq=False)
class Part:
    """One file of the program and what was changed to join it."""

    parsed: ParsedModule
    index: int
    imports: list[cst.Import | cst.ImportFrom] = field(default_factory=list)
    names: list[list[Imported]] = field(default_factory=list)
    # Bare name in the joined module -> how this file writes it, and whose it is.
    spelled: dict[str, tuple[str, ParsedModule]] = field(default_factory=dict)
    # Names that this file's own text reads after the references were replaced.
    reads: set[str] = field(default_factory=set)
    text: str = ""

    @property
    def path(self) -> Path:
        """Where the file lies."""
        return self.parsed.path

    @property
    def defined(self) -> set[str]:
        """Names bound at the top of the file, imports aside."""
        return {name for name, _ in _definitions(self.parsed)}


@dataclass(frozen=True, eq=False)
class Joined:
    """The joined module; the main file is the last part."""

    parsed: ParsedModule
    parts: tuple[Part, ...]
    header: frozenset[str]
    origin: tuple[tuple[int, int], ...]

    def place(self, line: int) -> tuple[Part, int]:
        """The part and its line that a line of the joined module came from."""
        index, line = self.origin[min(line, len(self.origin)) - 1]
        return self.parts[index], line


def mark(index: int) -> str:
    """The statement before a part."""
    return f'"tfmigrate part {index}"'


def import_mark(index: int, number: int) -> str:
    """The statement in the place of an import."""
    return f'"tfmigrate import {index}.{number}"'


def join(main: ParsedModule, facts: ProjectFacts) -> Joined | None:
    """The main file with the files it needs, or None when it needs none.

    Raises CannotJoin where names of the files would be confused.
    """
    order: list[ParsedModule] = []
    _collect(main, facts, order, [])
    if len(order) < 2:
        return None
    parts = [Part(parsed, index) for index, parsed in enumerate(order)]
    for part in parts:
        _prepare(part, facts)
    _check_names(parts)
    header: dict[str, Imported] = {}
    future: list[str] = []
    for part in parts:
        for imported in (each for names in part.names for each in names):
            if imported.module == "__future__":
                future.append(imported.text())
            elif imported.bound in part.reads:
                header[imported.bound] = imported
    lines = [*dict.fromkeys(future), *(each.text() for each in header.values())]
    origin: list[tuple[int, int]] = [(len(parts) - 1, 1)] * len(lines)
    for part in parts:
        text = part.text if part.text.endswith("\n") else part.text + "\n"
        lines += [mark(part.index), text.removesuffix("\n")]
        origin.append((part.index, 1))
        origin += [(part.index, line) for line in _line_origins(part, text)]
    joined = "\n".join(lines) + "\n"
    source = main.source.with_text(joined)
    return Joined(
        facts.module_of(source), tuple(parts), frozenset(header), tuple(origin)
    )


def _collect(
    module: ParsedModule,
    facts: ProjectFacts,
    order: list[ParsedModule],
    busy: list[Path],
) -> None:
    """The modules a module needs, those needed first, then the module."""
    if any(found.path == module.path for found in order):
        return
    if module.path in busy:
        raise CannotJoin(f"{module.path.name} is part of an import cycle")
    if len(order) + len(busy) >= _MOST_FILES:
        raise CannotJoin(f"it needs more than {_MOST_FILES} files")
    busy.append(module.path)
    for _, definition in _foreign(module, facts):
        _collect(definition.module, facts, order, busy)
    busy.pop()
    order.append(module)


def _foreign(
    module: ParsedModule, facts: ProjectFacts
) -> Iterator[tuple[cst.Name | cst.Attribute, Definition]]:
    """Expressions that name something of another file that has TensorFlow code."""
    for use in module.resolver.scopes.uses:
        node: cst.BaseExpression = use.node
        while isinstance(node, (cst.Name, cst.Attribute)):
            dotted = module.resolver.qualified(node)
            # Where TensorFlow itself lies in the tree it is still no program's part.
            if dotted is not None and "." in dotted and door(dotted) is None:
                found = facts.find(dotted, module.path)
                if (
                    found is not None
                    and found.module.path != module.path
                    and found.module.source.notebook is None
                    and "tensorflow" in found.module.source.text
                ):
                    yield node, found
                    break
            if isinstance(node, cst.Name):
                break
            node = node.value


def _definitions(parsed: ParsedModule) -> Iterator[tuple[str, str]]:
    """Names bound at the top of a module, with the source of plain values."""
    module = parsed.module
    for name, bindings in parsed.resolver.scopes.module_scope.bindings.items():
        for binding in bindings:
            if binding.kind is not BindingKind.IMPORT:
                value = binding.value
                yield name, "" if value is None else module.code_for_node(value)


def _prepare(part: Part, facts: ProjectFacts) -> None:
    """The part's text with markers for imports and bare names for references."""
    parsed = part.parsed
    module, scopes = parsed.module, parsed.resolver.scopes
    if scopes.module_scope.star_imports:
        raise CannotJoin(f"{part.path.name} imports with `*`")
    replaced: dict[cst.CSTNode, str] = {}
    for node, definition in _foreign(parsed, facts):
        name = definition.name
        scope = next(u.scope for u in scopes.uses if _holds(u.node, node))
        if _is_local(name, scope):
            raise CannotJoin(f"`{name}` also names a local of {part.path.name}")
        replaced[node] = name
        part.spelled[name] = (module.code_for_node(node).strip(), definition.module)
    smalls = [
        small
        for statement in module.body
        if isinstance(statement, cst.SimpleStatementLine)
        for small in statement.body
        if isinstance(small, (cst.Import, cst.ImportFrom))
    ]
    code, found = spans(module, [*replaced, *smalls])
    edits = [Edit(*found[node], name) for node, name in replaced.items()]
    for number, small in enumerate(smalls):
        part.imports.append(small)
        part.names.append(list(_imported(small, parsed)))
        edits.append(Edit(*found[small], import_mark(part.index, number)))
    part.text = apply_edits(code, edits)
    part.reads = {
        use.root.value
        for use in scopes.uses
        if use.root is not None and not any(_holds(use.node, node) for node in replaced)
    }


def _holds(chain: cst.CSTNode, node: cst.CSTNode) -> bool:
    while chain is not node:
        if not isinstance(chain, cst.Attribute):
            return False
        chain = chain.value
    return True


def _is_local(name: str, scope: Scope | None) -> bool:
    while scope is not None and scope.parent is not None:
        if name in scope.bindings:
            return True
        scope = scope.parent
    return False


def _imported(
    small: cst.Import | cst.ImportFrom, parsed: ParsedModule
) -> Iterator[Imported]:
    base = None
    if isinstance(small, cst.ImportFrom):
        dotted = import_path(small.module)
        base = parsed.resolver.absolute(dotted, len(small.relative))
        # Nor one that is relative where there is no package: it has no path.
        if not base or isinstance(small.names, cst.ImportStar):
            raise CannotJoin(f"an import of {parsed.path.name} is not understood")
    assert not isinstance(small.names, cst.ImportStar)
    for alias in small.names:
        name = import_path(alias.name)
        asname = None
        if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
            asname = alias.asname.name.value
        if base is not None:
            yield Imported(asname or name, base, name, asname)
        else:
            yield Imported(asname or name.split(".")[0], name, None, asname)


def _check_names(parts: list[Part]) -> None:
    """No name may mean one thing in one file and another in the next."""
    meant: dict[str, tuple[Part, object]] = {}

    def means(part: Part, name: str, what: object) -> None:
        other, before = meant.setdefault(name, (part, what))
        if before != what and other is not part:
            raise CannotJoin(
                f"`{name}` is one thing in {other.path.name} and another in "
                f"{part.path.name}"
            )

    for part in parts:
        for name, value in _definitions(part.parsed):
            # The same plain value (an alias, a logger) may stand in two files.
            means(part, name, value or part)
        for imported in (each for names in part.names for each in names):
            if imported.bound in part.reads and imported.module != "__future__":
                means(part, imported.bound, (imported.dotted, imported.asname))


def _line_origins(part: Part, text: str) -> list[int]:
    """For each line of the part's joined text, its line in the file."""
    module = part.parsed.module
    code, found = spans(module, part.imports)
    lines = Lines(code)
    shrunk = {}
    for small in part.imports:
        first, last = (lines.place(offset)[0] for offset in found[small])
        shrunk[first] = last
    origins, line = [], 1
    for _ in text.removesuffix("\n").split("\n"):
        origins.append(line)
        line = shrunk.get(line, line) + 1
    return origins
