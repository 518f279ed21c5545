"""The import statements of a file whose words get new names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import libcst as cst

from ..project.text import Edit
from ..rules.context import Context
from ..rules.import_line import imports_tensorflow
from ..symbols.dotted import import_path
from ..symbols.names import canonical
from ..symbols.scopes import ImportUse
from .homes import Home
from .vocabulary import Brought, Loop, Stays, Today, is_estimator_word
from .words import Words

__all__ = ["Imported", "Imports"]

# What `python -m` starts inside of a package does not search its own folder.
_SEARCHED = "sys.path.append(os.path.dirname(os.path.abspath(__file__)))"


@dataclass(frozen=True, eq=False)
class Imported:
    """One imported name that has a new home."""

    use: ImportUse
    alias: cst.ImportAlias
    imported: str
    symbol: str
    found: Home

    @property
    def bound(self) -> str:
        """What the file calls it."""
        name = self.alias.asname
        if name is not None and isinstance(name.name, cst.Name):
            return name.name.value
        return self.imported.split(".")[0]


class Imports:
    """Rewrites what a file imports, and adds what its new words need."""

    def __init__(self, words: Words, *, hands_on: bool) -> None:
        self.words = words
        # What such a module binds, others import from it.
        self.hands_on = hands_on

    def items(self) -> Iterable[Imported]:
        """Imported names that have a new home."""
        for use in self.words.resolver.scopes.imports:
            node = use.node
            if isinstance(node.names, cst.ImportStar):
                continue
            if isinstance(node, cst.ImportFrom) and (node.relative or not node.module):
                continue
            base = import_path(node.module) if isinstance(node, cst.ImportFrom) else ""
            for alias in node.names:
                imported = import_path(alias.name)
                symbol = canonical(f"{base}.{imported}" if base else imported)
                if symbol is None or symbol == "tf":
                    continue
                found = self.words.home(symbol)
                unknown = isinstance(found, Stays) and _is_private_module(symbol)
                if unknown or (found is None and is_estimator_word(symbol)):
                    found = Loop("")  # a package, whose words are judged one by one
                if found is None:
                    continue
                yield Imported(use, alias, imported, symbol, found)

    def rewrite(self, items: list[Imported]) -> None:
        """Statements with the new homes of their names."""
        statements: dict[cst.CSTNode, list[Imported]] = {}
        for item in items:
            if isinstance(item.found, Stays) and not self._is_unused(item):
                if not self._is_package_of_words(item.symbol):
                    self.words.keep(item.use.node, item.symbol, item.found.why)
                continue
            statements.setdefault(item.use.node, []).append(item)
        for changed in statements.values():
            self._statement(changed[0].use, {i.alias: i for i in changed})

    def _is_unused(self, item: Imported) -> bool:
        """Nothing in the module reads what an import binds: it can go."""
        name = item.bound.partition(".")[0]
        read = (node.value == name for node in self.words.resolver.scopes.loads)
        return not self.hands_on and not any(read)

    def _is_package_of_words(self, symbol: str) -> bool:
        """An import of a package whose names are judged where they are used."""
        return (
            is_estimator_word(symbol)
            and symbol.count(".") <= 2
            and (symbol.rpartition(".")[2].islower())
        )

    def _statement(
        self, use: ImportUse, changed: dict[cst.ImportAlias, Imported]
    ) -> None:
        node = use.node
        assert not isinstance(node.names, cst.ImportStar)
        kept: list[str] = []
        lines: dict[str, list[str]] = {}
        for alias in node.names:
            item = changed.get(alias)
            if item is None:
                kept.append(_alias_text(alias))
                continue
            line = self._moved(item, isinstance(node, cst.Import))
            if line is None:
                if isinstance(node, cst.Import) and alias.asname is None:
                    kept.append("tensorflow")  # which it bound as well
                continue
            head, name = line
            lines.setdefault(head, []).append(name)
        base = import_path(node.module) if isinstance(node, cst.ImportFrom) else ""
        text = []
        kept = list(dict.fromkeys(kept))
        if kept:
            names = ", ".join(kept)
            text.append(f"from {base} import {names}" if base else f"import {names}")
        for head, names_of in lines.items():
            text.append(head + ", ".join(dict.fromkeys(names_of)))
        self._put_statement(use, text)

    def _moved(self, item: Imported, plain: bool) -> tuple[str, str] | None:
        """Head and name of the import that takes an alias' place; None drops it."""
        found, bound = item.found, item.bound
        if isinstance(found, Stays):
            return None  # of what nobody uses
        self.words.note(found)
        if plain and item.alias.asname is None:
            return None  # its uses are spelled out
        if isinstance(found, Loop) and not found.name:
            self._check_spelled(item)
        if isinstance(found, Today):
            parent, _, name = found.symbol.rpartition(".")
            head = f"from tensorflow{parent[2:]} import "
            return head, name if name == bound else f"{name} as {bound}"
        module, name = self.words.module_and_name(found)
        ours = module in (self.words.modules.loop, self.words.modules.contrib)
        if not name:
            if isinstance(found, Loop):
                return None
            if (
                isinstance(found, Brought)
                and (item.use.node, bound) not in self.words.needed
            ):
                # No name of it is brought along: there may be no such module.
                self._check_spelled(item)
                return None
            line = self.words.import_line(module, bound)
            head, _, rest = line.rpartition("import ")
            return f"{head}import ", rest
        path = self.words.modules.path(module) if ours else module
        inner, _, last = name.rpartition(".")
        path = f"{path}.{inner}" if inner else path
        return f"from {path} import ", last if last == bound else f"{last} as {bound}"

    def _check_spelled(self, item: Imported) -> None:
        """An import that goes must not be what some other name hangs on."""
        for use in self.words.resolver.scopes.uses:
            if use.root is None or use.root in self.words.roots:
                continue
            bound = self.words.resolver.bindings(use.root)
            if any(one.node is item.use.node for one in bound) and (
                use.root.value == item.bound
            ):
                why = "is imported under a name that means something else as well"
                self.words.keep(use.node, item.symbol, why)

    def _put_statement(self, use: ImportUse, lines: list[str]) -> None:
        context = self.words.context
        start, end = context.span(use.node)
        line, _ = context.lines.place(start)
        own = context.lines.line_text(line)
        indent = own[: len(own) - len(own.lstrip())]
        statement = use.statement
        shares = isinstance(statement, cst.SimpleStatementLine) and (
            len(statement.body) > 1
        )
        if lines:
            joint = "; " if shares else context.module.default_newline + indent
            self.words.edits.append(Edit(start, end, joint.join(lines)))
        elif use.only or shares or not isinstance(statement, cst.SimpleStatementLine):
            self.words.edits.append(Edit(start, end, "pass"))
        else:
            self.words.edits.append(_whole_lines(start, end, context))

    def added(self) -> list[Edit]:
        """The new imports, behind the first import of TensorFlow."""
        added = self._behind([*self.words.imports.values()])
        if self.words.modules.searched:
            return [added]
        newline = self.words.context.module.default_newline
        text = newline.join(("import os", "import sys", "", _SEARCHED, ""))
        first = self._first()
        if first is None:
            return [replace(added, new=text + added.new)]
        return [Edit(first, first, text), added]

    def _first(self) -> int | None:
        """Where the first import of TensorFlow begins, at the left margin."""
        context = self.words.context
        for use in self.words.resolver.scopes.imports:
            if use.statement in context.module.body and imports_tensorflow(use.node):
                assert use.statement is not None
                line, _ = context.lines.place(context.span(use.statement)[0])
                return context.lines.starts[line - 1]
        return None

    def _behind(self, lines: list[str]) -> Edit:
        context = self.words.context
        newline = context.module.default_newline
        if "build_graphs_by_hand" in self.words.found.loop:
            lines += [
                "",
                f"{self.words.local(self.words.modules.loop)}.build_graphs_by_hand()",
            ]
        text = "".join(f"{line}{newline}" for line in lines)
        scopes = self.words.resolver.scopes
        top = [
            use
            for use in scopes.imports
            if use.scope is scopes.module_scope and use.statement in context.module.body
        ]
        ours = [use for use in top if imports_tensorflow(use.node)]
        chosen = ours[0] if ours else (top[0] if top else None)
        starts = context.lines.starts
        if chosen is not None and chosen.statement is not None:
            future = [use for use in top if _is_future(use.node)]
            if _is_future(chosen.node):
                chosen = future[-1]
            assert chosen.statement is not None
            line, _ = context.lines.place(context.span(chosen.statement)[1])
            if line < len(starts):
                return Edit(starts[line], starts[line], text)
            end = len(context.text)
            return Edit(end, end, newline + text)
        for statement in context.module.body:
            if _is_docstring(statement):
                line, _ = context.lines.place(context.span(statement)[1])
                if line < len(starts):
                    return Edit(starts[line], starts[line], newline + text)
                continue
            line, _ = context.lines.place(context.span(statement)[0])
            return Edit(starts[line - 1], starts[line - 1], text)
        return Edit(0, 0, text)


def _is_private_module(symbol: str) -> bool:
    """A module inside a package of tf.contrib, whose names are public elsewhere."""
    package, private, rest = symbol.partition(".python.")
    last = rest.rpartition(".")[2]
    return bool(private) and package.startswith("tf.contrib.") and last.islower()


def _alias_text(alias: cst.ImportAlias) -> str:
    name = import_path(alias.name)
    if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
        return f"{name} as {alias.asname.name.value}"
    return name


def _whole_lines(start: int, end: int, context: Context) -> Edit:
    """Deletes a statement with its line, unless a comment shares the line."""
    text = context.text
    _, column = context.lines.place(start)
    stop = end
    while stop < len(text) and text[stop] in " \t":
        stop += 1
    if stop < len(text) and text[stop] == "#":
        return Edit(start, stop, "")
    if text.startswith("\r\n", stop):
        stop += 2
    elif stop < len(text) and text[stop] in "\r\n":
        stop += 1
    return Edit(start - (column - 1), stop, "")


def _is_future(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.ImportFrom) and import_path(node.module) == "__future__"


def _is_docstring(statement: cst.CSTNode) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    first = statement.body[0]
    return isinstance(first, cst.Expr) and isinstance(
        first.value, (cst.SimpleString, cst.ConcatenatedString)
    )
