"""Helpers of other files that know of updates or metrics come to who calls them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import libcst as cst

from ...code.edits import Put, changed, importing
from ...code.names import fresh
from ...code.tree import Tree, only_small, walk
from ...names.dotted import dotted_name
from ...names.scopes import Binding, BindingKind
from ...project.facts import ParsedModule, ProjectFacts
from ..layers.model_functions import is_model_fn
from .chosen_functions import chooses_functions
from .inlined import knows_of_tasks, renamed
from .named_models import calls_model
from .objects import is_told_the_mode, methods_of

_MOST = 12
_Places = dict[cst.CSTNode, Any]
_Told = tuple[str, str]
_Helper = cst.FunctionDef | cst.ClassDef
_KINDS = (cst.FunctionDef, cst.ClassDef)


def with_helpers_brought(
    files: Sequence[ParsedModule],
    facts: ProjectFacts,
) -> list[ParsedModule]:
    """The files, with a helper that a Task has no place for beside who calls it.

    ``metrics.binary(labels, scores)`` of another file becomes ``binary(...)`` of the
    file of the model function, which then takes it over.
    """
    found = [*files]
    for _ in range(_MOST):
        trees = [Tree(one.module, one.resolver) for one in found]
        moved = next(
            (
                (number, one)
                for number, parsed in enumerate(found)
                if any(map(is_model_fn, parsed.each(cst.FunctionDef)))
                for one in _Mover(found, trees, number, facts).places()
            ),
            None,
        )
        if moved is None:
            break
        number, (origin, name, places) = moved
        found[number] = changed(found[number], facts, places)
        found[origin] = _without(found, origin, name, facts)
    return found


def _without(
    files: Sequence[ParsedModule], origin: int, name: str, facts: ProjectFacts
) -> ParsedModule:
    """The file that a helper came from, without it if nobody else asks for it."""
    parsed = files[origin]
    own = {os.path.abspath(one.path) for one in files}
    texts = [*facts.texts_of_importers(parsed.path, own)]
    bound = parsed.resolver.scopes.module_scope.bindings[name]
    users = sum(
        named_in_file(node, one, facts) == (os.path.abspath(parsed.path), name)
        for one in files
        for node in one.each(cst.Attribute, cst.Name)
        if getattr(getattr(node, "attr", node), "value", None) == name
        if node in one.resolver.scopes.loads or isinstance(node, cst.Attribute)
    )
    if users or any(name in text for text in texts):
        return parsed
    return changed(parsed, facts, {bound[0].node: None})


class _Mover:
    """Looks for a helper that one file calls, and says what is to stand where."""

    def __init__(
        self,
        files: Sequence[ParsedModule],
        trees: Sequence[Tree],
        number: int,
        facts: ProjectFacts,
    ) -> None:
        self.files = files
        self.trees = trees
        self.parsed, self.tree = files[number], trees[number]
        self.facts = facts
        self.bound = self.parsed.resolver.scopes.module_scope.bindings

    def places(self) -> list[tuple[int, str, _Places]]:
        """The first helper: the number of its file, its name, and the edits here."""
        paths = [os.path.abspath(one.path) for one in self.files]
        for call in self.parsed.each(cst.Call):
            if self.tree.function(call) is None:
                continue
            told = named_in_file(call.func, self.parsed, self.facts)
            if told is None or told[0] not in paths:
                continue
            origin = paths.index(told[0])
            other = self.trees[origin]
            bound = other.resolver.scopes.module_scope.bindings.get(told[1], ())
            helper = bound[0].node if len(bound) == 1 else None
            if other is self.tree or not isinstance(helper, _KINDS):
                continue
            told_mode = is_told_the_mode(self.tree, call)
            wanted = _is_wanted(other, helper, told_mode) or (
                isinstance(helper, cst.FunctionDef)
                and calls_model(helper, self.files[origin], self.facts)
            )
            if not helper.decorators and wanted:
                found = self._edits(call, other, helper, told)
                if found is not None:
                    return [(origin, told[1], found)]
        return []

    def _edits(
        self, call: cst.Call, other: Tree, helper: _Helper, told: _Told
    ) -> _Places | None:
        """The helper above what calls it, with what it asks its own file for."""
        name = helper.name.value
        held = call.func.value if isinstance(call.func, cst.Attribute) else None
        here = [*self.bound.get(name, ())]
        plain = [one.kind is BindingKind.IMPORT for one in here] == [True]
        if here if held is not None else not plain or self.tree.code(call.func) != name:
            return None
        lines: dict[str, cst.SimpleStatementLine] = {}
        more: dict[str, cst.ImportAlias] = {}
        own: _Places = {}
        for one, bound in of_module(other, helper):
            there = self.bound.get(one.value, ())
            if bound.kind is BindingKind.IMPORT:
                line = None if there else import_of(other, one.value)
                if line is not None:
                    lines[one.value] = line
                elif not there or place_of(there[0]) != place_of(bound):
                    return None
            elif held is not None:
                own[one] = cst.Attribute(held.deep_clone(), cst.Name(one.value))
            elif not there:
                more[one.value] = cst.ImportAlias(cst.Name(one.value))
            elif place_of(there[0]) != place_of(here[0], one.value):
                return None
        if held is not None and isinstance(helper, cst.FunctionDef):
            # What the helper calls as its file is called here gets another name.
            taken = {one.value for one in walk(helper, cst.Name)}
            root = (dotted_name(held) or "").partition(".")[0]
            own |= renamed(other, helper, {root: cst.Name(fresh(root, taken))})
        moved = helper.visit(Put(own, helper))
        top = next(n for n in self.tree.ancestors(call) if n in self.parsed.module.body)
        before = self.parsed.module.body[: self.parsed.module.body.index(top)]
        kinds = (cst.Import, cst.ImportFrom)
        last = [one for one in before if isinstance(only_small(one), kinds)][-1:]
        places: _Places = dict.fromkeys(last, lambda now: [now, *lines.values()])
        first = [] if last else [*lines.values()]
        places[top] = lambda now: [*first, moved, now]
        for node in self.parsed.each(cst.Call, cst.ImportFrom):
            if isinstance(node, cst.Call):
                same = named_in_file(node.func, self.parsed, self.facts) == told
                places |= {node.func: cst.Name(name)} if same else {}
            elif isinstance(node, cst.ImportFrom) and held is None:
                places |= without_name(node, name, [*more.values()])
        return places


def named_in_file(
    node: cst.CSTNode, origin: ParsedModule, facts: ProjectFacts
) -> _Told | None:
    """The file and the name of the function or class that an expression names."""
    found = facts.definition(node, origin)
    if found is None or not isinstance(found.node, _KINDS):
        return None
    return os.path.abspath(found.module.path), found.name


def _is_wanted(tree: Tree, helper: _Helper, told_mode: bool) -> bool:
    """A Task has no place for it, nor for objects of it, if these are told the mode."""
    if isinstance(helper, cst.FunctionDef):
        return knows_of_tasks(tree, helper) or chooses_functions(tree, helper)
    methods = methods_of(helper)
    return (
        [tree.code(one.value) for one in helper.bases] in ([], ["object"])
        and (told_mode or "__call__" not in [one.name.value for one in methods])
        and any(knows_of_tasks(tree, one) for one in methods)
    )


def of_module(tree: Tree, helper: _Helper) -> Iterator[tuple[cst.Name, Binding]]:
    """Names in a function that its file binds outside of it, without its own."""
    for node in walk(helper, cst.Name):
        if node in tree.resolver.scopes.loads:
            for one in tree.resolver.bindings(node)[:1]:
                outer = one.scope is tree.resolver.scopes.module_scope
                if outer and one.node is not helper:
                    yield node, one


def place_of(one: Binding, name: str = "") -> tuple[str, int]:
    """What an import names, or another name of the same module."""
    target = one.target or ""
    return (f"{target.rpartition('.')[0]}.{name}" if name else target), one.relative


def import_of(tree: Tree, name: str) -> cst.SimpleStatementLine | None:
    """The import of one name, for another file of the same directory or of any."""
    for node in tree.each(cst.ImportAlias):
        line = tree.parent(node)
        if (
            name == (node.evaluated_alias or node.evaluated_name)
            and isinstance(line, (cst.Import, cst.ImportFrom))
            and not getattr(line, "relative", ())
        ):
            only = node.with_changes(comma=cst.MaybeSentinel.DEFAULT)
            return cst.SimpleStatementLine([line.with_changes(names=[only])])
    return None


def without_name(
    line: cst.ImportFrom, name: str, more: Sequence[cst.ImportAlias]
) -> _Places:
    """An import without a name, and with others of the same module."""
    if isinstance(line.names, cst.ImportStar):
        return {}
    names = [one for one in line.names if one.evaluated_name != name]
    if len(names) == len(line.names):
        return {}
    return {line: importing(line, [*names, *more])}
