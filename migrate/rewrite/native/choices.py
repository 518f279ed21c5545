"""Functions that make layers, told by a table and a key, are called behind tests."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import libcst as cst

from ...code.arguments import is_none, values_given
from ...code.edits import Put, changed, importing
from ...code.names import fresh
from ...code.tree import Tree, only_small, walk
from ...model.arguments import parameters_of
from ...names.dotted import dotted_name
from ...names.scopes import Binding, BindingKind
from ...project.facts import ParsedModule, ProjectFacts
from .code import LAYER_WORDS
from .local_functions import makes_layers

# A test, if it is not the last one, and a function or an error.
Case = tuple[cst.BaseExpression | None, cst.BaseExpression | cst.Raise]
_Edits = dict[cst.CSTNode, Any]
# Names that a file has to import, behind one of its imports, from another file.
_More = dict[tuple[int, cst.CSTNode, int], set[str]]
_Given = Mapping[str, cst.BaseExpression]
_PLAIN = re.compile(r"[\w.\[\]'\"]+")
# Keys that are looked up once: the tests ask a name for them.
_LOOKED_UP = re.compile(r"[\w.]+\.get\([\w.'\"]+(, [\w.'\"]+)?\)")
# What is told as well by a tuple of a table's keys.
_LISTS = ("sorted", "list", "tuple", "set", "len", "join")
_CONSTANT = (cst.SimpleString, cst.Integer)


def with_choices_as_tests(
    files: Sequence[ParsedModule], facts: ProjectFacts
) -> list[ParsedModule]:
    """The files with ``if key == "cnn": x = cnn(...)`` for ``x = MODELS[key](...)``.

    Each function is then called by its name, and its layers are those of one class.
    The table may be one of another file, be asked by a function, or be filled by
    decorators that register functions.
    """
    edits: list[_Edits] = [{} for _ in files]
    if any(LAYER_WORDS.search(one.source.text) for one in files):
        program = _Program(files, facts)
        for table in program.tables():
            for number, more in program.edits(table).items():
                if number < len(files):
                    edits[number].update(more)
    return [
        changed(one, facts, more) if more else one
        for one, more in zip(files, edits, strict=True)
    ]


def called_behind_tests(
    line: cst.SimpleStatementLine, call: cst.Call, cases: Sequence[Case]
) -> cst.If:
    """A line for each test, with another function in the place of the one called."""
    bare = line.with_changes(leading_lines=[])
    rest: cst.If | cst.Else | None = None
    for test, chosen in reversed(cases):
        said = cst.SimpleStatementLine([chosen])  # type: ignore[list-item]
        if not isinstance(chosen, cst.Raise):
            said = bare.visit(Put({call.func: chosen}, bare))  # type: ignore[assignment]
        body = cst.IndentedBlock([said])
        rest = cst.Else(body) if test is None else cst.If(test, body, orelse=rest)
    assert isinstance(rest, cst.If)
    return rest


@dataclass(frozen=True, eq=False)
class _Asked:
    """A call of what is looked up: its file, the lookup, and by which keys."""

    number: int
    call: cst.Call
    lookup: cst.BaseExpression
    keys: Sequence[cst.BaseExpression]


@dataclass(eq=False)
class _Table:
    """A dict of functions: where it is bound, who asks it, what fills it."""

    number: int
    binding: Binding | None
    value: cst.Dict
    asked: list[_Asked] = field(default_factory=list)
    # The keys of each function, as they are written, and its file.
    entries: list[tuple[list[str], int, cst.FunctionDef]] = field(default_factory=list)
    fillers: list[tuple[int, cst.CSTNode]] = field(default_factory=list)
    # The functions that look up or register, and their files.
    serving: dict[cst.FunctionDef, int] = field(default_factory=dict)


class _Program:
    """Finds the tables of a program's files, and what names stand for in these."""

    def __init__(self, files: Sequence[ParsedModule], facts: ProjectFacts) -> None:
        self.files = [*files]
        self.facts = facts
        self.trees = [Tree(one.module, one.resolver) for one in files]
        self.numbers = {os.path.abspath(one.path): n for n, one in enumerate(files)}
        self.found: dict[cst.Dict, _Table] = {}

    def tables(self) -> list[_Table]:
        """Those that are asked for a function that is called."""
        for number, one in enumerate([*self.files]):
            for call in one.each(cst.Call):
                self._ask(call, number)
        if any(not one.value.elements for one in self.found.values()):
            for number, one in enumerate([*self.files]):
                for line in one.module.body:
                    if isinstance(line, cst.FunctionDef):
                        self._register(line, number)
                    elif isinstance(put := only_small(line), cst.Assign):
                        self._fill(line, put, number)
        return [*self.found.values()]

    def _home(self, node: cst.CSTNode, number: int) -> tuple[int, Binding] | None:
        """The file and the only binding of what an expression names."""
        parsed = self.files[number]
        bound = parsed.resolver.bindings(node) if isinstance(node, cst.Name) else []
        if not bound or bound[0].kind is BindingKind.IMPORT:
            told = self.facts.definition(node, parsed)
            if told is None:
                return None
            number = self._number(told.module)
            scope = self.files[number].resolver.scopes.module_scope
            bound = scope.bindings.get(told.name, [])
        return (number, bound[0]) if len(bound) == 1 else None

    def _number(self, home: ParsedModule) -> int:
        """The place of a file; one without TensorFlow, which stays, comes last."""
        number = self.numbers.setdefault(os.path.abspath(home.path), len(self.files))
        if number == len(self.files):
            self.files.append(home)
            self.trees.append(Tree(home.module, home.resolver))
        return number

    def _function(
        self, node: cst.CSTNode, number: int
    ) -> tuple[int, cst.FunctionDef] | None:
        number, one = self._home(node, number) or (0, None)
        made = one.node if one is not None else None
        return (number, made) if isinstance(made, cst.FunctionDef) else None

    def _table(self, node: cst.BaseExpression, number: int) -> _Table | None:
        home = self._home(node, number)
        value = home[1].value if home is not None else node
        if not isinstance(value, cst.Dict):
            return None
        made = _Table(home[0], home[1], value) if home else _Table(number, None, value)
        table = self.found.setdefault(value, made)
        if table is made and value.elements:
            table.entries = self._written(table)
        return table

    def _written(self, table: _Table) -> list[tuple[list[str], int, cst.FunctionDef]]:
        """The functions of a dict that is written out; none where all are not."""
        found = []
        for one in table.value.elements:
            key = one.key if isinstance(one, cst.DictElement) else None
            told = self._function(one.value, table.number)
            if not isinstance(key, _CONSTANT) or told is None:
                return []
            found.append(([self.trees[table.number].code(key)], *told))
        return found

    def _ask(self, call: cst.Call, number: int) -> None:
        """Notes a call of ``NETWORKS[key]``, ``network_of(key)`` or a name for it."""
        tree = self.trees[number]
        name, lookup = tree.assigned(call.func), tree.value(call.func)
        if tree.function(call) is None or (name and len(tree.uses(name)) > 1):
            return
        table: _Table | None = None
        keys: Sequence[cst.BaseExpression] | None = None
        if isinstance(lookup, cst.Subscript):
            table, keys = self._table(lookup.value, number), _elements(tree, lookup)
        elif isinstance(lookup, cst.Call):
            place, function = self._function(lookup.func, number) or (0, None)
            taken = _looked_up(function) if function is not None else None
            if function is not None and taken is not None:
                given = values_given(lookup, parameters_of(function.params)) or {}
                table = self._table(taken.value, place)
                keys = _keys(self.trees[place], taken, given)
                if table is not None:
                    table.serving[function] = place
        if table is not None and keys is not None and lookup is not None:
            table.asked.append(_Asked(number, call, lookup, keys))

    def _register(self, defined: cst.FunctionDef, number: int) -> None:
        """Notes a function that its decorator puts into a table."""
        for one in defined.decorators if len(defined.decorators) == 1 else ():
            call = one.decorator
            if not isinstance(call, cst.Call):
                call = cst.Call(call)
            place, function = self._function(call.func, number) or (0, None)
            inner = [*walk(function, cst.FunctionDef)] if function is not None else []
            if function is None or len(inner) != 1 + (call is one.decorator):
                continue
            given: dict[str, cst.BaseExpression] = {}
            if call is one.decorator:
                given = values_given(call, parameters_of(function.params)) or {}
            params = parameters_of(inner[-1].params)
            first = params[0].name.value if params else ""
            given[first] = cst.Name(defined.name.value)
            returned = [one.value for one in walk(inner[-1], cst.Return)]
            if [getattr(one, "value", None) for one in returned] != [first]:
                continue
            for put in walk(inner[-1], cst.Assign):
                target = put.targets[0].target
                stored = getattr(put.value, "value", None)
                if not isinstance(target, cst.Subscript) or stored != first:
                    continue
                table = self._filled(target, place)
                keys = _keys(self.trees[place], target, given)
                if table is not None and keys is not None:
                    told = [self.trees[number].code(each) for each in keys]
                    table.entries.append((told, number, defined))
                    table.fillers.append((number, one))
                    table.serving[function] = place

    def _fill(self, line: cst.CSTNode, put: cst.Assign, number: int) -> None:
        """Notes ``NETWORKS["cnn"] = cnn`` of a module."""
        target = put.targets[0].target
        told = self._function(put.value, number)
        if isinstance(target, cst.Subscript) and told is not None:
            table, tree = self._filled(target, number), self.trees[number]
            parts = _elements(tree, target)
            fixed = all(isinstance(one, _CONSTANT) for one in parts)
            if table is not None and fixed:
                table.entries.append(([*map(tree.code, parts)], *told))
                table.fillers.append((number, line))

    def _filled(self, place: cst.Subscript, number: int) -> _Table | None:
        """The table that something is put into, which begins without entries."""
        home = self._home(place.value, number)
        value = home[1].value if home is not None else None
        if not isinstance(value, cst.Dict) or value.elements:
            return None
        return self.found.get(value)

    def edits(self, table: _Table) -> dict[int, _Edits]:
        """What to put where, by file; nothing if not all that asks is understood."""
        found: dict[int, _Edits] = {}
        if not any(
            makes_layers(self.trees[number], one) for _, number, one in table.entries
        ):
            return {}
        listed = self._is_listed(table)
        if listed is None:
            return {}
        more: _More = {}
        for one in table.asked:
            edits = self._tests(table, one, more)
            if edits is None or edits.keys() & found.get(one.number, {}).keys():
                return {}
            found.setdefault(one.number, {}).update(edits)
        for (number, line, home), wanted in more.items():
            place = found.setdefault(number, {})
            place[line] = self._importing(line, number, home, sorted(wanted))
        for number, filler in table.fillers:
            found.setdefault(number, {})[filler] = None
        for function, number in table.serving.items():
            found.setdefault(number, {})[function] = None
        if table.binding is not None:
            keys = [cst.Element(cst.parse_expression(k[0])) for k, *_ in table.entries]
            gone = self.trees[table.number].statement(table.binding.node)
            place = found.setdefault(table.number, {})
            place[table.value if listed else gone] = cst.Tuple(keys) if listed else []
        return found

    def _is_listed(self, table: _Table) -> bool | None:
        """Whether somebody asks for all keys; None if a use is not understood."""
        known: set[cst.CSTNode] = {one.lookup for one in table.asked}
        known |= {*table.serving, *(one for _, one in table.fillers)}
        homes = [(n, one) for one, n in table.serving.items()]
        names = {one.name.value for _, one in homes}
        names |= {table.binding.name} if table.binding is not None else set()
        listed = False
        for number, tree in enumerate(self.trees):
            for node in tree.each(cst.Name, cst.Attribute):
                last = (dotted_name(node) or "").rpartition(".")[2]
                if last not in names or not self._is_of(table, node, number):
                    continue
                above = [*tree.ancestors(node)]
                if not known.isdisjoint(above):
                    continue
                if not _is_list(above):
                    return None
                listed = True
        paths = {self.files[number].path for number, _ in homes}
        paths |= {self.files[table.number].path} if table.binding is not None else set()
        for path in paths:
            for text in self.facts.texts_of_importers(path, self.numbers):
                if any(re.search(rf"\b{name}\b", text) for name in names):
                    return None
        return listed

    def _is_of(self, table: _Table, node: cst.CSTNode, number: int) -> bool:
        """A name for the table, or for a function that serves it."""
        loads = self.trees[number].resolver.scopes.loads
        if isinstance(node, cst.Name) and node not in loads:
            return False
        home = self._home(node, number)
        return home is not None and (
            home[1] is table.binding or home[1].node in table.serving
        )

    def _tests(self, table: _Table, asked: _Asked, more: _More) -> _Edits | None:
        """The call behind tests of the one key that is not written out."""
        tree = self.trees[asked.number]
        line, function = tree.statement(asked.call), tree.function(asked.call)
        own = [*map(tree.code, asked.keys)]
        free = [n for n, one in enumerate(asked.keys) if not isinstance(one, _CONSTANT)]
        fixed = {n: one for n, one in enumerate(own) if n not in free}
        if len(free) > 1 or not isinstance(line, cst.SimpleStatementLine):
            return None
        alike = [
            (keys, number, one.name.value)
            for keys, number, one in table.entries
            if len(keys) == len(own) and all(keys[n] == one for n, one in fixed.items())
        ]
        said = [self._said(number, one, asked, more) for _, number, one in alike]
        functions = [one for one in said if one is not None]
        if not said or len(functions) < len(said):
            return None
        edits: _Edits = {}
        name = tree.assigned(asked.call.func)
        if name is not None:
            edits[tree.statement(name.node)] = []
        if not free:
            return {**edits, asked.call.func: functions[0]}
        key = own[free[0]]
        named: list[cst.BaseStatement] = []
        if not _PLAIN.fullmatch(key):
            if not _LOOKED_UP.fullmatch(key):
                return None
            inside = {one.value for one in walk(function or line, cst.Name)}
            asked_for, key = key, fresh("kind", inside)
            named = [cst.parse_statement(f"{key} = {asked_for}")]
        cases: list[Case] = [
            (cst.parse_expression(f"{key} == {keys[free[0]]}"), one)
            for (keys, *_), one in zip(alike, functions, strict=True)
        ]
        error = cst.Raise(cst.parse_expression(f"KeyError({key})"))
        chosen = called_behind_tests(line, asked.call, [*cases, (None, error)])
        first, *behind = (*named, chosen)
        first = first.with_changes(leading_lines=line.leading_lines)
        edits[line] = [first, *behind]
        return edits

    def _said(
        self, number: int, name: str, asked: _Asked, more: _More
    ) -> cst.BaseExpression | None:
        """How a file names a function, which it may have to import for that."""
        if number == asked.number:
            return cst.Name(name)
        here, path = self.files[asked.number], self.files[number].path
        bindings = here.resolver.scopes.module_scope.bindings
        for each in (one for bound in bindings.values() for one in bound):
            if each.kind is BindingKind.IMPORT and each.target is not None:
                dotted = here.resolver.absolute(each.target, each.relative) or ""
                home, _, own = dotted.rpartition(".")
                if self._is_file(dotted, here, path):
                    return cst.Attribute(cst.Name(each.name), cst.Name(name))
                if own == name and self._is_file(home, here, path):
                    return cst.Name(each.name)
        tree = self.trees[asked.number]
        root = next(iter(walk(asked.lookup, cst.Name)))
        bound = here.resolver.bindings(root)
        if name in bindings or len(bound) != 1 or path in self.facts.users(here.path):
            return None
        line = tree.statement(bound[0].node)
        more.setdefault((asked.number, line, number), set()).add(name)
        return cst.Name(name)

    def _importing(
        self, line: cst.CSTNode, number: int, home: int, names: Sequence[str]
    ) -> list[cst.CSTNode]:
        """An import, and names of another file with it or behind it."""
        here, path = self.files[number], self.files[home].path
        one = only_small(line)
        aliases = [cst.ImportAlias(cst.Name(name)) for name in names]
        if isinstance(one, cst.ImportFrom) and not isinstance(
            one.names, cst.ImportStar
        ):
            module = dotted_name(one.module) if one.module is not None else ""
            dotted = here.resolver.absolute(module or "", len(one.relative)) or ""
            if self._is_file(dotted, here, path):
                both = importing(one, [*one.names, *aliases])
                return [line.with_changes(body=[both])]
        text = f"from {self.facts.module_name(path)[0]} import {', '.join(names)}"
        return [line, cst.parse_statement(text)]

    def _is_file(self, dotted: str, here: ParsedModule, path: Path) -> bool:
        found = self.facts.locate(dotted, here.path) if dotted else None
        return found is not None and os.path.abspath(found) == os.path.abspath(path)


def _is_list(above: Sequence[cst.CSTNode]) -> bool:
    """Only the keys of a table are asked for there, by what holds its name."""
    holder, call = above[0], above[1]
    if isinstance(holder, cst.Arg) and isinstance(call, cst.Call):
        last = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
        return getattr(last, "value", None) in _LISTS
    if isinstance(holder, cst.ComparisonTarget):
        return isinstance(holder.operator, (cst.In, cst.NotIn))
    return isinstance(holder, (cst.For, cst.CompFor))


def _looked_up(function: cst.FunctionDef) -> cst.Subscript | None:
    """What a function returns that looks it up; what else it does may only fail."""
    returns = [*walk(function, cst.Return)]
    taken = returns[0].value if len(returns) == 1 else None
    calls = [one for one in walk(function, cst.Expr) if isinstance(one.value, cst.Call)]
    if function.decorators or calls or any(walk(function, cst.AugAssign, cst.For)):
        return None
    return taken if isinstance(taken, cst.Subscript) else None


def _elements(tree: Tree, asked: cst.Subscript) -> list[cst.BaseExpression]:
    """What stands between the brackets: a key, or the parts of one."""
    index = asked.slice[0].slice
    key = tree.value(index.value) if isinstance(index, cst.Index) else None
    if isinstance(key, cst.Tuple):
        return [one.value for one in key.elements]
    return [index.value] if isinstance(index, cst.Index) else []


def _keys(
    tree: Tree, asked: cst.Subscript, given: _Given
) -> list[cst.BaseExpression] | None:
    """The keys that a function looks up or stores by, as its call gives them."""
    found: list[cst.BaseExpression] = []
    for one in _elements(tree, asked):
        if isinstance(one, cst.BooleanOperation) and isinstance(one.operator, cst.Or):
            # A name of its own, or that of the function.
            said = given.get(getattr(one.left, "value", ""))
            one = one.right if is_none(said) else one.left
        if isinstance(one, cst.Name) and one.value in given:
            if len(tree.resolver.bindings(one)) > 1:
                return None
            found.append(given[one.value])
        elif isinstance(one, cst.Attribute) and one.attr.value == "__name__":
            named = given.get(getattr(one.value, "value", ""))
            if not isinstance(named, cst.Name):
                return None
            found.append(cst.SimpleString(repr(named.value)))
        elif isinstance(one, _CONSTANT):
            found.append(one)
        else:
            return None
    return found or None
