"""arg_scopes around the call of a function that is in another file: it enters them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any

import libcst as cst

from ...code.edits import Put, changed, importing
from ...code.statements import is_docstring
from ...code.tree import Tree, statements_of, walk
from ...project.facts import ParsedModule, ProjectFacts
from .own_scopes import ARG_SCOPES, with_arg_scopes_written_out
from .spelling import argument_of

_CONTRIB = "tf.contrib."
_Places = dict[cst.CSTNode, Any]


def with_scopes_in_functions(
    files: Sequence[ParsedModule], facts: ProjectFacts
) -> list[ParsedModule]:
    """The files, with ``def network(x): with arg_scope(...): ...``.

    What a scope says by names that the other file does not know, the function is given.
    """
    found = [*files]
    done: set[str] = set()
    while any("arg_scope(" in one.source.text for one in files):
        move = next(_moves(found, facts, done), None)
        if move is None:
            break
        here, there = move.numbers
        found[here] = changed(found[here], facts, move.places[0])
        moved = changed(found[there], facts, move.places[1])
        found[there] = with_arg_scopes_written_out(moved, facts)
    return found


def _moves(
    files: Sequence[ParsedModule], facts: ProjectFacts, done: set[str]
) -> Iterator[_Move]:
    """The first call within scopes whose function is elsewhere."""
    paths = [one.path for one in files]
    for number, here in enumerate(files):
        tree = Tree(here.module, here.resolver)
        for call in here.each(cst.Call):
            scopes = _scopes(tree, call)
            told = facts.definition(call.func, here) if scopes else None
            if told is None or told.module.path not in paths or told.name in done:
                continue
            there = paths.index(told.module.path)
            if there != number:
                done.add(told.name)
                move = _Move(files, facts, number, there)
                if move.reads(scopes, call, told.name):
                    yield move


def _scopes(tree: Tree, call: cst.Call) -> list[cst.With]:
    """The arg_scopes of a function around a call, the outermost first."""
    found: list[cst.With] = []
    for one in tree.ancestors(call):
        if isinstance(one, (cst.FunctionDef, cst.Lambda)):
            break
        if isinstance(one, cst.With) and all(
            isinstance(item.item, cst.Call)
            and tree.symbol(item.item.func) in ARG_SCOPES
            and item.item is not call
            for item in one.items
        ):
            found.insert(0, one)
    inside = {node for one in found for item in one.items for node in walk(item)}
    return [] if call in inside else found


class _Move:
    """What is called in one file, and stands in another one, both of a program."""

    def __init__(
        self, files: Sequence[ParsedModule], facts: ProjectFacts, here: int, there: int
    ) -> None:
        self.facts = facts
        self.numbers = here, there
        self.here, self.there = files[here], files[there]
        self.tree = Tree(self.here.module, self.here.resolver)
        self.other = Tree(self.there.module, self.there.resolver)
        # The edits of both files.
        self.places: tuple[_Places, _Places] = ({}, {})
        # What the function is handed, and by what names.
        self.handed: dict[str, cst.BaseExpression] = {}

    def reads(self, scopes: Sequence[cst.With], call: cst.Call, name: str) -> bool:
        """Tells whether this is the one call of the function, and notes the edits."""
        scope = self.there.resolver.scopes.module_scope
        (bound, *more) = scope.bindings.get(name, [None])
        function = bound.node if bound is not None and not more else None
        texts = self.facts.texts_of_importers(self.there.path)
        if not isinstance(function, cst.FunctionDef) or self.other.loads_of(function):
            return False
        body = function.body
        if sum(one.count(f"{name}(") for one in texts) > 1 or not isinstance(
            body, cst.IndentedBlock
        ):
            return False
        names = [one.name.value for one in function.params.params]
        told = {
            (one.keyword.value if one.keyword is not None else name): one.value
            for name, one in zip_longest(names, call.args)
            if one is not None
        }
        same = [k for k, v in told.items() if isinstance(v, cst.Name) and v.value == k]
        new = dict(self._renamed(scopes, same))
        handed = self.handed
        params = [*function.params.params]
        place = sum(one.default is None for one in params)
        by_place = sum(one.keyword is None for one in call.args)
        own = self.there.resolver.scopes.opened[function].bindings
        if handed and (by_place > place or {*handed} & {*own, *scope.bindings}):
            return False
        params[place:place] = [cst.Param(cst.Name(one)) for one in handed]
        lines: list[Any] = [*statements_of(body)]
        first = sum(map(is_docstring, lines[:1]))
        inner = lines[first:]
        for one in reversed(scopes):
            items = [item.visit(Put(new, item)) for item in one.items]
            inner = [cst.With(items, cst.IndentedBlock(inner))]  # type: ignore[arg-type]
        given = [argument_of(value, cst.Name(one)) for one, value in handed.items()]
        others = {one for scope in scopes for one in walk(scope.body, cst.Call)}
        plain = not any(
            (self.tree.symbol(one.func) or "").startswith(_CONTRIB)
            or self.facts.definition(one.func, self.here) is not None
            for one in others - {call}
        )
        apart: _Places = {one: lambda now: [*now.body.body] for one in scopes}
        gone = apart | self._unread(scopes) if plain else {}
        self.places = (
            {call: lambda now: now.with_changes(args=[*now.args, *given]), **gone},
            {
                function.params: function.params.with_changes(params=params),
                body: body.with_changes(body=[*lines[:first], *inner]),
            },
        )
        return True

    def _renamed(
        self, scopes: Sequence[cst.With], same: Sequence[str]
    ) -> Iterator[tuple[cst.CSTNode, cst.BaseExpression]]:
        """Expressions in scopes with what says them in the other file.

        What it does not know, the function is handed; some it is given as the ``same``.
        """
        gone: set[cst.CSTNode] = set()
        loads = self.tree.resolver.scopes.loads
        for node in (n for one in scopes for item in one.items for n in walk(item)):
            if node in gone:
                continue
            named = isinstance(node, cst.Arg) and node.keyword is not None
            value = node.value if isinstance(node, cst.Arg) else None
            if named and isinstance(value, (cst.Attribute, cst.Subscript)):
                inside = [n for n in walk(value, cst.Name) if n in loads]
                if any(map(self._is_unknown, inside)):
                    name = node.keyword.value  # type: ignore[attr-defined]
                    self.handed[name] = value
                    gone |= {*walk(value)}
                    yield value, cst.Name(name)
                continue
            if not isinstance(node, (cst.Name, cst.Attribute)):
                continue
            told = self.facts.definition(node, self.here)
            if told is not None and told.module.path == self.there.path:
                gone |= {*walk(node)}
                yield node, cst.Name(told.name)
            elif (
                isinstance(node, cst.Name)
                and node in loads
                and node.value not in same
                and self._is_unknown(node)
            ):
                self.handed[node.value] = cst.Name(node.value)

    def _is_unknown(self, node: cst.Name) -> bool:
        alike = self.other.loads(node.value)
        bound = self.tree.resolver.bindings(node)
        return bool(bound) and not (alike and self._means(node, alike[0]))

    def _unread(self, scopes: Sequence[cst.With]) -> _Places:
        """Imports without what only the scopes have read."""
        inside = {n for one in scopes for item in one.items for n in walk(item)}
        gone = {
            one.value
            for one in inside
            if isinstance(one, cst.Name)
            and self.tree.loads(one.value)
            and inside.issuperset(self.tree.loads(one.value))
        }
        found: _Places = {}
        for line in self.here.each(cst.ImportFrom):
            if isinstance(line.names, cst.ImportStar):
                continue
            left = [one for one in line.names if _name(one) not in gone]
            if 0 < len(left) < len(line.names):
                found[line] = importing(line, left)
            elif not left:
                found[self.tree.statement(line)] = None
        return found

    def _means(self, node: cst.Name, other: cst.Name) -> bool:
        """Two names of the files stand for the same of a package."""
        one, two = self.here.resolver, self.there.resolver
        found = one.resolve(node) or one.qualified(node)
        return found is not None and found == (
            two.resolve(other) or two.qualified(other)
        )


def _name(alias: cst.ImportAlias) -> str:
    return alias.evaluated_alias or alias.evaluated_name
