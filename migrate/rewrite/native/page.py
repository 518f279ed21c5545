"""One file while its words change: its tree, the edits, and what the edits need."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import libcst as cst

from ...code.spacing import with_smaller_gap
from ...code.tree import Statement, Tree, walk
from ...names.names import canonical
from ...names.scopes import Binding, BindingKind, Scope
from ...project.facts import ParsedModule
from ...project.selection import is_test
from ...rules.context import Context
from ..file_facts import is_started
from .as_written import lines_as_written
from .imports import is_gone
from .origins import Origins


@dataclass(frozen=True)
class Region:
    """Old text, with its changes, whose lines move by some characters."""

    start: int
    end: int
    shift: int


Part = str | cst.CSTNode | Region


@dataclass(frozen=True)
class _Change:
    """New text for a span; nodes among the parts stand as they are changed."""

    start: int
    end: int
    parts: tuple[Part, ...]


class Page(Tree):
    """Collects changes to one file and applies them together.

    A change may hold nodes of the old text: changes within these are applied, all
    others within its span are dropped with the text.
    """

    def __init__(
        self,
        parsed: ParsedModule,
        *,
        training: str,
        for_tf2: bool,
        beside: Sequence[ParsedModule],
    ) -> None:
        super().__init__(parsed.module, parsed.resolver)
        self.parsed = parsed
        # The file that its author wrote, whose lines are told.
        self.written = parsed
        # Attributes of models, by the pattern by which a warm start names them.
        self.started: Mapping[str, Sequence[tuple[str, ...]]] = {}
        # The module that training.py is, as the file imports it.
        self.training = training
        self.for_tf2 = for_tf2
        self.beside = [one for one in beside if one is not parsed]
        self.files = [parsed, *self.beside]
        self.scopes = parsed.resolver.scopes
        self.context = Context(self.text, parsed.module, parsed.resolver)
        # What the file takes from training.py, by the name that it has there.
        self.taken: dict[str, str] = {}
        # What it calls training.py as a whole, where one of its names is taken.
        self.whole = ""
        self.words: set[str] = set()
        self.watched: set[str] = set()
        self.notes: list[tuple[int, str]] = []
        self.refusals: list[tuple[int, str]] = []
        # What may yet go with a statement that an Estimator takes over.
        self.refused_if_it_stays: dict[cst.CSTNode, str] = {}
        # Other imports: (module, name or "", bound name).
        self.imports: dict[tuple[str, str], str] = {}
        self._changes: list[_Change] = []
        self._dropped: dict[cst.Call, list[cst.Arg]] = {}
        self._added: dict[cst.Call, list[tuple[Part, ...]]] = {}
        self._gone: dict[Statement, None] = {}
        # Names of the old text that none of the new one stands for.
        self.replaced: set[cst.Name] = set()
        # Calls that stand in the new text no more.
        self.rewritten: set[cst.Call] = set()

    @cached_property
    def origins(self) -> Origins:
        """Where values of the program come from."""
        return Origins(self.files)

    # -- the tree -------------------------------------------------------------------

    def block(self, statement: cst.CSTNode) -> Sequence[cst.CSTNode]:
        """The statements that stand with one in a block."""
        holder = self.parent(statement)
        if isinstance(holder, (cst.Module, cst.IndentedBlock)):
            return holder.body
        return (statement,)

    def call_of(self, node: cst.CSTNode) -> cst.Call | None:
        """The call of which a node is the function."""
        found = self.parent(node)
        return found if isinstance(found, cst.Call) and found.func is node else None

    def scope(self, node: cst.CSTNode) -> Scope:
        """The scope in which a node stands."""
        for one in self.ancestors(node):
            if not isinstance(one, cst.Module) and one in self.scopes.opened:
                return self.scopes.opened[one]
        return self.scopes.module_scope

    def reads(self, made: cst.CSTNode, name: str) -> list[cst.Name]:
        """The places that read a name, and may mean what a statement gave it."""
        statement = self.statement(made)
        return [
            read
            for read in self.loads(name)
            if any(
                self.statement(one.node) is statement
                for one in self.resolver.bindings(read)
            )
        ]

    def bindings(self) -> Iterator[Binding]:
        """Whatever gives a name its meaning, in any scope of the file."""
        for scope in dict.fromkeys(
            (self.scopes.module_scope, *self.scopes.opened.values())
        ):
            for bindings in scope.bindings.values():
                yield from bindings

    # -- text -----------------------------------------------------------------------

    def says(self, *words: str) -> bool:
        """One of some words stands somewhere in the program."""
        return any(word in one.source.text for one in self.files for word in words)

    @property
    def text(self) -> str:
        """The old text."""
        return self.parsed.source.text

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """Start and end of a node, its own parentheses left aside."""
        return self.context.span(node)

    def outer(self, node: cst.CSTNode) -> tuple[int, int]:
        """Start and end of a node with its own parentheses."""
        return self.context.outer_span(node)

    def source(self, node: cst.CSTNode) -> str:
        """The old text of a node."""
        return self.context.source(node)

    def line(self, node: cst.CSTNode) -> int:
        """The line on which a node begins."""
        return self.context.lines.place(self.span(node)[0])[0]

    def indent(self, node: cst.CSTNode) -> str:
        """The white space before the line on which a node begins."""
        text = self.context.lines.line_text(self.line(node))
        return text[: len(text) - len(text.lstrip())]

    @cached_property
    def step(self) -> str:
        """One level of indentation, as the file has it."""
        found = re.search(
            r"(?m)^\S.*:[ \t]*(?:#.*)?\r?\n(?:[ \t]*\r?\n)*([ \t]+)\S", self.text
        )
        return found[1] if found else self.parsed.module.default_indent

    @cached_property
    def newline(self) -> str:
        """The end of a line, as the file has it."""
        return self.parsed.module.default_newline

    @cached_property
    def quote(self) -> str:
        """The quotes that the file prefers."""
        strings = [
            node.value.lstrip("rbfuRBFU") for node in self.parsed.each(cst.SimpleString)
        ]
        short = [one[0] for one in strings if one[:3] not in ('"""', "'''")]
        return "'" if short.count("'") > short.count('"') else '"'

    @cached_property
    def width(self) -> int:
        """How long the lines of the file may be."""
        lengths = sorted(map(len, self.text.splitlines())) or [0]
        careless = sum(length > 100 for length in lengths) > 2
        return lengths[-1] if careless else min(max(lengths[-1], 79), 100)

    def string(self, value: str) -> str:
        """A string in the file's quotes."""
        return f"{self.quote}{value}{self.quote}"

    # -- changes --------------------------------------------------------------------

    def put(self, node: cst.CSTNode, *parts: Part) -> None:
        """Puts text, and nodes of the old text, in the place of a node."""
        start, end = self.span(node)
        self.put_span(start, end, *parts)

    def put_span(self, start: int, end: int, *parts: Part) -> None:
        """Puts text, and nodes of the old text, in the place of a span."""
        if parts != (self.text[start:end],):
            self._changes.append(_Change(start, end, parts))

    def put_before(self, node: cst.CSTNode, text: str) -> None:
        """Puts text before a node and its parentheses."""
        start, _ = self.outer(node)
        self.put_span(start, start, text)

    def put_around(self, node: cst.CSTNode, head: str, tail: str) -> None:
        """Puts text before and behind a node and its parentheses."""
        start, end = self.outer(node)
        self.put_span(start, start, head)
        self.put_span(end, end, tail)

    def rename(self, node: cst.Name | cst.Attribute, text: str) -> None:
        """Puts another name in the place of a chain, whose import it needs no more."""
        self.forget(node)
        self.put(node, text)

    def forget(self, node: cst.CSTNode) -> None:
        """Notes that no text stands for what a chain begins with."""
        root = root_of(node)
        if isinstance(root, cst.Name):
            self.replaced.add(root)

    def drop_argument(self, call: cst.Call, *args: cst.Arg) -> None:
        """Takes arguments out of a call."""
        self._dropped.setdefault(call, []).extend(args)

    def dropped(self, call: cst.Call) -> tuple[cst.Arg, ...]:
        """Arguments of a call that are taken out."""
        return tuple(self._dropped.get(call, ()))

    def add_argument(self, call: cst.Call, *parts: Part) -> None:
        """Adds an argument at the end of a call."""
        self._added.setdefault(call, []).append(parts)

    def rename_keyword(self, arg: cst.Arg, name: str) -> None:
        """Gives an argument another keyword."""
        assert arg.keyword is not None
        self.put(arg.keyword, name)

    def take_off_keyword(self, arg: cst.Arg) -> None:
        """Leaves the value of an argument without its keyword."""
        assert arg.keyword is not None
        self.put_span(self.span(arg.keyword)[0], self.outer(arg.value)[0])

    def drop_statement(self, statement: Statement) -> None:
        """Takes a statement out, with its line."""
        self._gone[statement] = None

    def drop_made(self, node: cst.BaseExpression) -> None:
        """Takes out the statements that make a value which nothing reads any more."""
        for one in walk(node, cst.Name):
            if one in self.scopes.loads:
                self._drop_made(one)

    def _drop_made(self, node: cst.Name) -> None:
        binding = self.assigned(node)
        if binding is None or binding.value is None:
            return
        statements = [self.statement(binding.value)]
        for read in self.uses(binding):
            if read is node or self.is_gone(read):
                continue
            statement = self.statement(read)
            if not _sets_part_of(statement, read):
                return
            statements.append(statement)
        if all(self._is_plain(one) for one in statements):
            for one in statements:
                self.drop_statement(one)
                names = list(walk(one, cst.Name))
                self.replaced.update(n for n in names if n in self.scopes.loads)
            self.drop_made(binding.value)

    def _is_plain(self, statement: Statement) -> bool:
        """An assignment that calls nothing but TensorFlow."""
        if not isinstance(statement, cst.SimpleStatementLine):
            return False
        if len(statement.body) != 1 or not isinstance(statement.body[0], cst.Assign):
            return False
        called = [one.func for one in walk(statement, cst.Call)]
        return all((self.symbol(one) or "").startswith("tf.") for one in called)

    def is_rewritten(self, node: cst.CSTNode) -> bool:
        """A node is part of a call that something else takes the place of."""
        around = (node, *self.ancestors(node))
        return any(
            isinstance(one, cst.Call) and one in self.rewritten for one in around
        )

    def is_replaced(self, node: cst.CSTNode) -> bool:
        """A node stands in text that other text takes the place of."""
        start, end = self.span(node)
        return any(one.start <= start and end <= one.end for one in self._changes)

    def is_gone(self, node: cst.CSTNode) -> bool:
        """A node stands in a statement or argument that is taken out."""
        for one in (node, *self.ancestors(node)):
            if one in self._gone:
                return True
            if isinstance(one, cst.Arg):
                call = self.parent(one)
                if isinstance(call, cst.Call) and one in self._dropped.get(call, ()):
                    return True
        return False

    # -- what the changes need --------------------------------------------------------

    def take(self, name: str) -> str:
        """A name of training.py, as this file writes it."""
        self.words.add(name)
        if name in self.bound_names:
            self.whole = self.whole or self.free("training", "training_loop")
            return f"{self.whole}.{name}"
        self.taken[name] = name
        return name

    def bring(self, module: str, name: str = "", other: str = "") -> str:
        """The name under which a module, or what is in one, is imported."""
        key = (module, name)
        if key not in self.imports:
            wanted = name or module
            bound = self._bound(f"{module}.{name}" if name else module)
            self.imports[key] = bound or self.free(wanted, other or f"{module}_{name}")
        return self.imports[key]

    def keras(self) -> str:
        """The name of tf_keras, for which an import of tf.keras is an import of it."""
        for name, bindings in self.scopes.module_scope.bindings.items():
            if {canonical(one.target or "") for one in bindings} == {"tf.keras"}:
                return name
        return self.bring("tf_keras")

    def _bound(self, target: str) -> str | None:
        """What an import of the file calls a thing, where nothing else is called so."""
        for name, bindings in self.scopes.module_scope.bindings.items():
            if all(one.target == target and not one.relative for one in bindings):
                return name
        return None

    def free(self, *names: str) -> str:
        """The first of some names that means nothing yet, or one made of the last."""
        choice, number = [*names], 2
        while True:
            for name in choice:
                if name not in self.bound_names:
                    return name
            choice, number = [f"{names[-1]}_{number}"], number + 1

    @cached_property
    def bound_names(self) -> set[str]:
        """Every name that means something somewhere in the file."""
        return {one.name for one in self.bindings() if not _goes(one)}

    def tf(self, node: cst.CSTNode, name: str) -> str:
        """A symbol of today's TensorFlow, spelled at a place."""
        root = root_of(node)
        near = root if isinstance(root, cst.Name) else None
        return self.context.spell(f"tf.{name}", self.scope(node), near)

    def note(self, node: cst.CSTNode, what: str) -> None:
        """Says what differs, or was left out."""
        self.notes.append((self._line_as_written(node), what))

    def unused(
        self, node: cst.CSTNode, seen: frozenset[cst.CSTNode] = frozenset()
    ) -> cst.FunctionDef | cst.ClassDef | None:
        """The function or class around a node, if none but its like name it.

        It trains nothing, for what trains is there to be called from elsewhere.
        """
        outer = [node, *self.ancestors(node)][-2:-1]
        made = outer[0] if outer else None
        if not isinstance(made, (cst.FunctionDef, cst.ClassDef)) or made.decorators:
            return None
        name = made.name.value
        texts = [one.source.text for one in self.files]
        named = re.compile(rf"\b{name}\b")
        if (
            name == "main"
            or is_test(self.parsed.path.name)
            or _TRAINS.search(self.source(made))
            or any(map(_BY_NAME.search, texts))
            or any(named.search(one) for one in texts if one is not self.text)
        ):
            return None
        seen = seen | {made}
        others = (one for one in self.loads(name) if not self.is_gone(one))
        others = (one for one in others if seen.isdisjoint(self.ancestors(one)))
        return made if all(self.unused(one, seen) for one in others) else None

    @cached_property
    def _is_whole(self) -> bool:
        """The program is started in one of its files."""
        return any(
            one.source.notebook or is_started(one.path.name, one.source.text)
            for one in self.files
        )

    def refuse(self, node: cst.CSTNode, why: str) -> None:
        """Says why the program cannot be native; ``{}`` is where.

        A function or class that nothing names is taken out instead, where the program
        starts in one of its files.
        """
        unused = self.unused(node) if self._is_whole else None
        if unused is not None:
            if unused not in self._gone:
                self.drop_statement(unused)
                self.replaced.update(walk(unused, cst.Name))
                told = why.replace(" ({})", "").partition(": ")[0]
                self.note(unused, f"`{unused.name.value}` is gone, unused: {told}")
            return
        cell, number = self.written.source.locate(self._line_as_written(node))
        where = f"line {number}" if cell is None else f"cell {cell}, line {number}"
        where = f"{self.parsed.path.name}, {where}" if self.beside else where
        self.refusals.append((self.line(node), why.replace("{}", where)))

    def _line_as_written(self, node: cst.CSTNode) -> int:
        line = self.line(node)
        return (lines_as_written(line, self.parsed, self.written) or [line])[0]

    # -- the new text -----------------------------------------------------------------

    def result(self) -> str:
        """The text with all changes."""
        for call, args in self._dropped.items():
            self._drop_arguments(call, args)
        for call, added in self._added.items():
            self._add_arguments(call, added)
        for statement in self._gone:
            self._drop_statement(statement)
        self._changes.sort(key=lambda one: (one.start, -one.end))
        return self._render(0, len(self.text), self._changes)

    def _render(self, start: int, end: int, changes: list[_Change]) -> str:
        parts: list[str] = []
        position = start
        for change in changes:
            if change.start < position or change.end > end:
                continue
            parts.append(self.text[position : change.start])
            position = change.end
            others = [one for one in self._changes if one is not change]
            for part in change.parts:
                if isinstance(part, str):
                    parts.append(part)
                    continue
                if isinstance(part, Region):
                    first, last, columns = part.start, part.end, part.shift
                else:
                    (first, last), columns = self.outer(part), 0
                inner = [o for o in others if o.start >= first and o.end <= last]
                text = self._render(first, last, inner)
                parts.append(shifted(text, columns, self.step[:1]))
        parts.append(self.text[position:end])
        return "".join(parts)

    def _drop_arguments(self, call: cst.Call, gone: Iterable[cst.Arg]) -> None:
        dropped = set(gone)
        kept = [arg for arg in call.args if arg not in dropped]
        if not kept and call not in self._added:
            opening = self.text.index("(", self.outer(call.func)[1])
            self.put_span(opening + 1, self.span(call)[1] - 1)
            return
        args = list(call.args)
        index = 0
        while index < len(args):
            if args[index] not in dropped:
                index += 1
                continue
            first = index
            while index < len(args) and args[index] in dropped:
                index += 1
            if index < len(args):
                self.put_span(self._begin(args[first]), self._begin(args[index]))
            elif first:
                self.put_span(self._end(args[first - 1]), self._end(args[-1]))
            else:
                self.put_span(self._begin(args[0]), self._end(args[-1]))

    def _add_arguments(self, call: cst.Call, added: list[tuple[Part, ...]]) -> None:
        kept = [arg for arg in call.args if arg not in self._dropped.get(call, ())]
        parts: list[Part] = []
        for one in added:
            parts += [", " if kept or parts else "", *one]
        if call.args:
            end = self._end(call.args[-1])
        else:
            end = self.text.index("(", self.outer(call.func)[1]) + 1
        self.put_span(end, end, *parts)

    def _begin(self, arg: cst.Arg) -> int:
        if arg.keyword is not None:
            return self.span(arg.keyword)[0]
        return self.outer(arg.value)[0] - len(arg.star)

    def _end(self, arg: cst.Arg) -> int:
        return self.outer(arg.value)[1]

    def _drop_statement(self, statement: Statement) -> None:
        start, end = self.span(statement)
        if isinstance(statement, cst.SimpleStatementLine):
            end = self.span(statement.body[-1])[1]
        end = start + len(self.text[start:end].rstrip())
        others = [one for one in self.block(statement) if one not in self._gone]
        first = self.text.rfind("\n", 0, start) + 1
        last = self.text.find("\n", end) + 1 or len(self.text)
        tail = self.text[end:last].strip(" \t\r\n;")
        alone = not self.text[first:start].strip() and (not tail or tail[0] == "#")
        if not alone or not others:
            self.put_span(start, end, "pass" if not others or not alone else "")
            return
        block = list(self.block(statement))
        place = block.index(statement)
        # What a file begins with speaks of all of it.
        begins = not place and isinstance(self.parent(statement), cst.Module)
        ends = not begins and self._ends_lines(block[place + 1 :], last)
        while first:
            above = self.text.rfind("\n", 0, first - 1) + 1
            comment = self.text[above:first].strip()
            if not (comment[:1] == "#" if ends else _OF_GONE.match(comment)):
                break
            first = above
        # Blank lines around it become those of one side.
        leads = all(one in self._gone for one in block[:place])
        if all(one in self._gone for one in block[place:]):
            first = len(self.text[:first].rstrip(" \t\r\n"))
            first = self.text.index("\n", first) + 1
        elif leads:
            while self.text[last : last + 1] in ("\n", "\r"):
                last += 1
        else:
            first, last = with_smaller_gap(self.text, first, last)
        self.put_span(first, last)

    def _ends_lines(self, behind: Sequence[cst.CSTNode], end: int) -> bool:
        """Nothing stays of the lines behind a statement, up to the next empty one."""
        for one in behind:
            start, last = self.span(one)
            lines = self.text[end:start].split("\n")[:-1]
            if any(not line.strip() for line in lines):
                return True
            if one not in self._gone:
                return False
            end = self.text.find("\n", last) + 1 or len(self.text)
        return True


_TRAINS = re.compile(
    r"(Estimator|Classifier|Regressor)\(|\.(train|evaluate|predict|fit)\("
    r"|train_and_evaluate|\bExperiment\("
)
# How a file may call a function without its name.
_BY_NAME = re.compile(
    r"(?<![\w.])(globals|locals|vars|eval|exec|Fire)\(|fire\.Fire|__all__"
    r"|getattr\([^,()]+, *[^\"' ]"
)

# Comments that go with the statement below, for they speak of what there is no more.
_OF_GONE = re.compile(r"#.*\b(iterator|one.?shot|get_next)\b", re.IGNORECASE)


def _goes(binding: Binding) -> bool:
    """An import of what takes the place of the name, or has no place any more."""
    return binding.kind is BindingKind.IMPORT and is_gone(binding.target or "")


def _sets_part_of(statement: Statement, read: cst.Name) -> bool:
    """``config.gpu_options.allow_growth = True`` sets a part of what is read."""
    if not isinstance(statement, cst.SimpleStatementLine):
        return False
    first = statement.body[0]
    if not isinstance(first, cst.Assign) or len(first.targets) != 1:
        return False
    return root_of(first.targets[0].target) is read


def root_of(node: cst.CSTNode) -> cst.CSTNode:
    """What a chain begins with."""
    while isinstance(node, cst.Attribute):
        node = node.value
    return node


def shifted(text: str, columns: int, pad: str = " ") -> str:
    """Lines moved to the right, or to the left, as far as they have room there."""
    if not columns:
        return text
    lines = text.splitlines(keepends=True)
    if columns > 0:
        pad *= columns
        return "".join(pad + line if line.strip() else line for line in lines)
    return "".join(
        line[min(-columns, len(line) - len(line.lstrip(" \t"))) :]
        if line.strip()
        else line
        for line in lines
    )
