"""The import statements of a file after its words have changed."""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from ...code.spacing import with_smaller_gap
from ...names.ast_nodes import tree_of
from ...names.ast_nodes import walk as walk_ast
from ...project.text import Edit, Lines, apply_edits

# What no TensorFlow of today has, or has for graphs and Estimators alone.
_GONE = re.compile(
    r"tensorflow_estimator\b|tensorflow\.((compat\.v1\.)?"
    r"(estimator|app|flags|logging|layers|losses|metrics|keras\.estimator)"
    r"|contrib|python|_api)\b"
)


def is_gone(path: str) -> bool:
    """Nothing should be imported from a module of this name, or as it."""
    return _GONE.match(path) is not None


@dataclass(frozen=True)
class Wanted:
    """What a file has to import: names of training.py, and of other modules."""

    training: str
    names: Collection[str]
    # What the file calls training.py, where it names it as a whole.
    whole: str
    # (module, name or nothing) -> what it is called in the file.
    others: Mapping[tuple[str, str], str]
    # Names that the file needs no more, unless it still reads them.
    replaced: Collection[str] = ()
    # Names that other files import from this one.
    handed_on: Collection[str] = ()
    # The first parts of the names of the project's modules.
    project: Collection[str] = ()
    width: int = 79


def with_imports(text: str, wanted: Wanted) -> str:
    """The text with all imports it needs, and none that only its old words needed."""
    carriage = "\r\n" in text
    text = text.replace("\r\n", "\n")
    # What goes says where what comes has its place.
    text = _Adding(text, wanted).result()
    text = apply_edits(text, _without_unused(tree_of(text), Lines(text), wanted))
    return text.replace("\n", "\r\n") if carriage else text


def _without_unused(tree: ast.Module, lines: Lines, wanted: Wanted) -> Iterator[Edit]:
    read = {n.id for n in walk_ast(tree, ast.Name)}
    for body in _bodies(tree):
        gone: list[ast.stmt] = []
        for statement in body:
            if not isinstance(statement, (ast.Import, ast.ImportFrom)):
                continue
            kept = [a for a in statement.names if not _goes(statement, a, read, wanted)]
            if len(kept) == len(statement.names):
                continue
            if kept:
                start, end = _span(statement, lines)
                yield Edit(start, end, _spelled(statement, kept, wanted))
            else:
                gone.append(statement)
        for one in gone:
            alone = len(gone) == len(body) and body is not tree.body
            yield _without(one, lines, alone)


def unread_imports(text: str, taken: Collection[str]) -> set[int]:
    """Lines of imports that go, for only old words of the file needed them."""
    tree = tree_of(text)
    read = {n.id for n in walk_ast(tree, ast.Name)}
    wanted = Wanted("", (), "", {}, handed_on=taken)
    every: list[ast.Import | ast.ImportFrom] = [*walk_ast(tree, ast.ImportFrom)]
    every += walk_ast(tree, ast.Import)
    return {
        one.lineno
        for one in every
        if all(_goes(one, alias, read, wanted) for alias in one.names)
    }


def _bodies(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    for node in walk_ast(tree):
        for field in ("body", "orelse", "finalbody"):
            body = getattr(node, field, None)
            if isinstance(body, list) and body:
                yield body


def _goes(
    statement: ast.Import | ast.ImportFrom,
    alias: ast.alias,
    read: Collection[str],
    wanted: Wanted,
) -> bool:
    if alias.name == "*":
        return is_gone(_module(statement))
    bound = alias.asname or alias.name.split(".")[0]
    path = f"{_module(statement)}.{alias.name}".lstrip(".")
    if is_gone(path) and bound in (*wanted.names, *wanted.others.values()):
        return True  # the name is that of something else now
    if bound in read or bound in wanted.handed_on or _module(statement) == "__future__":
        return False
    return bound in wanted.replaced or is_gone(path)


def _module(statement: ast.Import | ast.ImportFrom) -> str:
    if isinstance(statement, ast.Import):
        return ""
    return "." * statement.level + (statement.module or "")


def _spelled(
    statement: ast.Import | ast.ImportFrom, aliases: list[ast.alias], wanted: Wanted
) -> str:
    names = [f"{a.name} as {a.asname}" if a.asname else a.name for a in aliases]
    if isinstance(statement, ast.Import):
        return f"import {', '.join(names)}"
    return _from(_module(statement), names, wanted, packed=True)


def _from(module: str, names: list[str], wanted: Wanted, *, packed: bool) -> str:
    """A from-import, on several lines where one is too long."""
    whole = f"from {module} import {', '.join(names)}"
    if len(whole) <= wanted.width:
        return whole
    inner = "".join(f"    {name},\n" for name in names) + ")"
    if packed:
        text = textwrap.fill(f"{', '.join(names)})", wanted.width - 4)
        inner = textwrap.indent(text, "    ")
    return f"from {module} import (\n{inner}"


def _span(statement: ast.stmt, lines: Lines) -> tuple[int, int]:
    def offset(line: int, column: int) -> int:
        row = lines.line_text(line)
        return lines.offset(line, len(row.encode()[:column].decode()))

    assert statement.end_lineno is not None
    assert statement.end_col_offset is not None
    return (
        offset(statement.lineno, statement.col_offset),
        offset(statement.end_lineno, statement.end_col_offset),
    )


def _without(statement: ast.stmt, lines: Lines, alone: bool) -> Edit:
    """Takes a statement out, with its line where nothing else stands there."""
    start, end = _span(statement, lines)
    first = lines.starts[lines.place(start)[0] - 1]
    last = lines.text.find("\n", end) + 1 or len(lines.text)
    around = lines.text[first:start] + lines.text[end:last]
    if alone or around.strip():
        return Edit(start, end, "pass")
    if not first:
        while lines.text[last : last + 1] == "\n":
            last += 1
    return Edit(*with_smaller_gap(lines.text, first, last), "")


class _Adding:
    """Finds the places of new imports among those that stand there."""

    def __init__(self, text: str, wanted: Wanted) -> None:
        self.text = text
        self.wanted = wanted
        self.lines = Lines(text)
        self.body = tree_of(text).body
        self.edits: list[Edit] = []
        imports = (ast.Import, ast.ImportFrom)
        self.imports = [one for one in self.body if isinstance(one, imports)]
        # Modules, names of them, and what these are called.
        self.known = {
            (_module(one) or name.name, name.name if _module(one) else "", bound)
            for one in self.imports
            for name in one.names
            for bound in (name.asname or name.name,)
        }

    def result(self) -> str:
        """The text with the imports."""
        missing: dict[str, list[str]] = {}
        for (module, name), bound in sorted(self.wanted.others.items()):
            if (module, name, bound) not in self.known:
                what = name or module
                what = what if what == bound else f"{what} as {bound}"
                missing.setdefault(module if name else "", []).append(what)
        for what in missing.pop("", ()):
            self._add_package(what.split()[0], f"import {what}")
        for module, names in missing.items():
            self._add_package(module, f"from {module} import {', '.join(names)}")
        self._add_training()
        return apply_edits(self.text, self.edits)

    def _run(self) -> list[ast.Import | ast.ImportFrom]:
        """The imports that stand with that of TensorFlow, or the first ones."""
        runs: list[list[ast.Import | ast.ImportFrom]] = [[]]
        for one in self.body:
            if isinstance(one, (ast.Import, ast.ImportFrom)):
                if _module(one) != "__future__":
                    runs[-1].append(one)
            elif runs[-1]:
                runs.append([])
        named = [run for run in runs if any(_top(one) == "tensorflow" for one in run)]
        return (named or [run for run in runs if run] or [[]])[0]

    def _add_package(self, module: str, line: str) -> None:
        run = self._run()
        ours = [one for one in run if _top(one) == "tensorflow"]
        blocks = self._blocks(run)
        block = next((b for b in blocks if ours and ours[0] in b), None)
        if block is None:
            third = [b for b in blocks if not _is_local(b[0], self.wanted)]
            block = third[-1] if third else None
        if block is None:
            self._open(line)
            return
        standard = [_top(one) in sys.stdlib_module_names for one in block]
        if standard == sorted(standard, reverse=True) and not all(standard):
            # What comes with Python stands above the others.
            block = block[sum(standard) :]
        keys = [_path(one).lower() for one in block]
        later = [one for one in block if _path(one).lower() > module.lower()]
        if keys == sorted(keys) and later:
            self._insert(self._start(later[0]), line)
        elif ours and module.lower() > "tensorflow":
            self._insert(self._after(ours[-1]), line)
        elif ours:
            self._insert(self._start(ours[0]), line)
        else:
            self._insert(self._after(block[-1]), line)

    def _add_training(self) -> None:
        path, names = self.wanted.training, set(self.wanted.names)
        if not path:
            return  # training.py is a cell of the notebook
        if self.wanted.whole:
            package, dot, last = path.rpartition(".")
            module, bound = package + dot[: not package] or last, self.wanted.whole
            if (module, last if dot else "", bound) not in self.known:
                what = last if last == bound else f"{last} as {bound}"
                head = f"from {package or dot} " if dot else ""
                self._add_local(f"{head}import {what}")
        for one in self.imports:
            if _module(one) == path and not any(
                a.asname or a.name == "*" for a in one.names
            ):
                old = {a.name for a in one.names}
                if names - old:
                    self.edits.append(
                        Edit(*_span(one, self.lines), self._line(names | old))
                    )
                return
        if names:
            self._add_local(self._line(names))

    def _add_local(self, line: str) -> None:
        path, run = self.wanted.training, self._run()
        if not run:
            self._open(line)
            return
        last = self._blocks(run)[-1]
        later = [one for one in last if _path(one).lower() > path.lower()]
        if not _is_local(last[-1], self.wanted):
            place = self._after(last[-1])
            again = any(
                edit.start == place and edit.new[:1] == "\n" for edit in self.edits
            )
            self._insert(place, line if again else f"\n{line}")
        elif later and _is_local(later[0], self.wanted):
            self._insert(self._start(later[0]), line)
        else:
            self._insert(self._after(last[-1]), line)

    def _line(self, names: Collection[str]) -> str:
        ordered = sorted(names, key=lambda name: (name[0].islower(), name.lower()))
        packed = re.search(r"(?m)^[ \t]*\)$", self.text) is None
        return _from(self.wanted.training, ordered, self.wanted, packed=packed)

    def _blocks(
        self, run: list[ast.Import | ast.ImportFrom]
    ) -> list[list[ast.Import | ast.ImportFrom]]:
        """Imports with no blank line between them."""
        blocks: list[list[ast.Import | ast.ImportFrom]] = []
        for one in run:
            above = self.lines.line_text(one.lineno - 1) if one.lineno > 1 else ""
            if blocks and above.strip():
                blocks[-1].append(one)
            else:
                blocks.append([one])
        return blocks

    def _open(self, line: str) -> None:
        """Puts an import where there is none: below the docstring."""
        rest = [one for one in self.body if not isinstance(one, ast.ImportFrom)]
        if isinstance(rest[0], ast.Expr):
            rest = rest[1:] or rest
        place = self._start(rest[0])
        self.edits.append(Edit(place, place, f"{line}\n\n\n"))

    def _start(self, one: ast.stmt) -> int:
        return self.lines.starts[one.lineno - 1]

    def _after(self, one: ast.stmt) -> int:
        assert one.end_lineno is not None
        starts = self.lines.starts
        return (
            starts[one.end_lineno] if one.end_lineno < len(starts) else len(self.text)
        )

    def _insert(self, place: int, line: str) -> None:
        before = "" if not place or self.text[place - 1] == "\n" else "\n"
        self.edits.append(Edit(place, place, f"{before}{line}\n"))


def _path(one: ast.Import | ast.ImportFrom) -> str:
    """The module that an import names."""
    return _module(one) if isinstance(one, ast.ImportFrom) else one.names[0].name


def _top(one: ast.Import | ast.ImportFrom) -> str:
    return _path(one).split(".")[0]


def _is_local(one: ast.Import | ast.ImportFrom, wanted: Wanted) -> bool:
    """An import of a module of the project."""
    top = _top(one)
    if isinstance(one, ast.ImportFrom) and one.level:
        return True
    ours = top == wanted.training.split(".")[0] or top in wanted.project
    return bool(top) and ours and top not in sys.stdlib_module_names
