"""A class whose base has no other use than to be its base holds all of it itself."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

import libcst as cst

from ...code.arguments import values_given
from ...code.edits import Put, changed
from ...code.statements import assigned, is_docstring, without_docstring
from ...code.tree import Statement, Tree, only_small, statements_of, walk
from ...model.arguments import parameters_of
from ...model.definitions import method_of
from ...project.facts import ParsedModule, ProjectFacts
from .brought import import_of, of_module, place_of, without_name
from .code import LAYER_WORDS
from .objects import methods_of

_Edits = dict[cst.CSTNode, Any]
_MOST = 8
# Bases that only say that methods are missing.
_ABSTRACT = ("abc.ABC", "ABC")
_FIRST = "__init__"
_SUPER = r"\bsuper\b(?!\(.*\)\.__init__\(\))"


def with_bases_merged(
    files: Sequence[ParsedModule], facts: ProjectFacts
) -> list[ParsedModule]:
    """The files with the methods of a base in the one class that derives from it.

    Only a base that calls what the other class says: layers of both are one model.
    """
    found = [*files]
    if not any(LAYER_WORDS.search(one.source.text) for one in files):
        return found
    for _ in range(_MOST):
        edits = next(filter(None, _Bases(found, facts).edits()), None)
        if edits is None:
            break
        found = [
            changed(one, facts, edits[number]) if number in edits else one
            for number, one in enumerate(found)
        ]
    return found


class _Bases:
    """Finds classes of a program's files that one other class extends."""

    def __init__(self, files: Sequence[ParsedModule], facts: ProjectFacts) -> None:
        self.files = files
        self.facts = facts
        self.trees = [Tree(one.module, one.resolver) for one in files]
        self.numbers = {os.path.abspath(one.path): n for n, one in enumerate(files)}

    def edits(self) -> Iterator[dict[int, _Edits] | None]:
        """What to put where, by file, for each class that can be merged."""
        for number, one in enumerate(self.files):
            for derived in one.module.body:
                if isinstance(derived, cst.ClassDef) and len(derived.bases) == 1:
                    yield self._merged(number, derived)

    def _merged(self, number: int, derived: cst.ClassDef) -> dict[int, _Edits] | None:
        told = self.facts.definition(derived.bases[0].value, self.files[number])
        home = self.numbers.get(os.path.abspath(told.module.path)) if told else None
        if told is None or home is None or told.name == derived.name.value:
            return None
        scope = self.files[home].resolver.scopes.module_scope
        bound = scope.bindings.get(told.name, ())
        base = bound[0].node if len(bound) == 1 else None
        if not isinstance(base, cst.ClassDef) or base.decorators or derived.decorators:
            return None
        if not self._is_for_one(base, derived, home):
            return None
        lines = self._names(number, home, base)
        members = _members(self.trees[number], self.trees[home], derived, base)
        if lines is None or members is None:
            return None
        whole = derived.with_changes(
            bases=[
                one
                for one in base.bases
                if self.trees[home].code(one.value) not in _ABSTRACT
            ],
            lpar=cst.MaybeSentinel.DEFAULT,
            rpar=cst.MaybeSentinel.DEFAULT,
            body=derived.body.with_changes(body=members),
        )
        edits: dict[int, _Edits] = {number: {derived: [*lines, whole]}}
        edits.setdefault(home, {})[base] = None
        for line in self.files[number].each(cst.ImportFrom):
            edits[number] |= without_name(line, told.name, [])
        return edits

    def _is_for_one(self, base: cst.ClassDef, derived: cst.ClassDef, home: int) -> bool:
        """A class of layers calls methods of the one other class that names it."""
        name = base.name.value
        code = self.trees[home].code(base)
        asked = {*re.findall(r"\bself\.(\w+)\(", code)}
        if asked.isdisjoint(one.name.value for one in methods_of(derived)):
            return False
        if not (
            LAYER_WORDS.search(code + self.files[home].module.code_for_node(derived))
            and not re.search(rf"{_SUPER}|self\.__\w+(?<!__)\b", code)
        ):
            return False
        word = re.compile(rf"\b{name}\b")
        for tree in self.trees:
            for node in tree.each(cst.Name, cst.Attribute):
                last = node.attr if isinstance(node, cst.Attribute) else node
                if getattr(last, "value", None) != name:
                    continue
                above = [node, *tree.ancestors(node)]
                if any(isinstance(one, (cst.ImportFrom, cst.Import)) for one in above):
                    continue
                if not (base in above or derived in above):
                    return False
        path = self.files[home].path
        return not any(
            map(word.search, self.facts.texts_of_importers(path, self.numbers))
        )

    def _names(
        self, number: int, home: int, base: cst.ClassDef
    ) -> list[cst.SimpleStatementLine] | None:
        """Imports that a base asks for in another file; None if it asks for more."""
        lines: dict[str, cst.SimpleStatementLine] = {}
        here = self.files[number].resolver.scopes.module_scope.bindings
        for one, bound in of_module(self.trees[home], base) if number != home else ():
            there = here.get(one.value, ())
            line = import_of(self.trees[home], one.value)
            if there and place_of(there[0]) != place_of(bound):
                return None
            if line is None:
                return None
            if not there:
                lines[one.value] = line
        return [*lines.values()]


def _members(
    here: Tree, there: Tree, derived: cst.ClassDef, base: cst.ClassDef
) -> list[Statement] | None:
    """What both classes hold, in the order of the base; None if that is not seen."""
    if not isinstance(derived.body, cst.IndentedBlock) or not isinstance(
        base.body, cst.IndentedBlock
    ):
        return None
    own = {name: one for one in statements_of(derived.body) for name in assigned(one)}
    found: list[Statement] = [
        one for one in statements_of(derived.body)[:1] if is_docstring(one)
    ]
    placed: set[cst.CSTNode] = {*found}
    for one in statements_of(base.body):
        names = assigned(one)
        if "__metaclass__" in names or (is_docstring(one) and found):
            continue
        said = [own[name] for name in names if name in own]
        decorators = one.decorators if isinstance(one, cst.FunctionDef) else ()
        if not said and any("abstract" in there.code(each) for each in decorators):
            return None
        found += [one] if not said else [o for o in said if o not in placed]
        placed |= {*said}
    found += [
        one
        for one in statements_of(derived.body)
        if one not in placed and not isinstance(only_small(one), cst.Pass)
    ]
    inherited = {*statements_of(base.body)}
    made: list[Statement] = []
    for one in found:
        if one in inherited:
            made.append(_without_super(one))
            continue
        plain = _with_base_made(here, there, one, base)
        if plain is None:
            return None
        made.append(plain)
    return [*_first_lines(made[:1]), *made[1:]]


def _first_lines(members: Sequence[Statement]) -> list[Statement]:
    """The first of a body, without empty lines above it."""
    return [
        one.with_changes(leading_lines=[o for o in one.leading_lines if o.comment])
        for one in members
    ]


def _without_super(member: Statement) -> Statement:
    """A member without the call of the constructor that every object has."""
    lines = [
        one
        for one in walk(member, cst.SimpleStatementLine)
        if isinstance(small := only_small(one), cst.Expr)
        and isinstance(small.value, cst.Call)
        and any(name.value == "super" for name in walk(small.value, cst.Name))
    ]
    if not lines:
        return member
    return member.visit(Put(dict.fromkeys(lines), member))  # type: ignore[return-value]


def _with_base_made(
    here: Tree, there: Tree, member: Statement, base: cst.ClassDef
) -> Statement | None:
    """A member with the lines of the base's constructor for the call of it."""
    edits: _Edits = {}
    for one in walk(member, cst.Name):
        if one.value not in ("super", base.name.value):
            continue
        statement = here.statement(one)
        small = only_small(statement)
        call = small.value if isinstance(small, cst.Expr) else None
        func = call.func if isinstance(call, cst.Call) else None
        if (
            not isinstance(call, cst.Call)
            or not isinstance(func, cst.Attribute)
            or [getattr(member, "name", func).value, func.attr.value] != [_FIRST] * 2
        ):
            return None
        if one.value != "super" and isinstance(func.value, cst.Name):
            call = call.with_changes(args=call.args[1:])
        lines = _constructed(call, method_of(base, _FIRST), there)
        if lines is None:
            return None
        edits[statement] = lines
    return member.visit(Put(edits, member)) if edits else member  # type: ignore[return-value]


def _constructed(
    call: cst.Call, first: cst.FunctionDef | None, tree: Tree
) -> list[Statement] | None:
    """The lines of a constructor, with what a call gives for its parameters."""
    if first is None:
        return []
    params = parameters_of(first.params)[1:]
    values = values_given(call, params)
    plain = _without_super(first)
    assert isinstance(plain, cst.FunctionDef)
    lines = without_docstring(plain.body)
    if values is None or len(values) < len(params):
        return None
    found: list[Statement] = []
    for line in lines:
        if not {*assigned(line)} <= {"self"} or isinstance(line, cst.FunctionDef):
            return None
        read = [one for one in walk(line, cst.Name) if one.value in values]
        put = {o: values[o.value] for o in read if o in tree.resolver.scopes.loads}
        found.append(line.visit(Put(put, line)))  # type: ignore[arg-type]
    return found
