"""Model functions of a base class stand in the classes that say the rest of a model."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import libcst as cst

from ...code.edits import changed
from ...code.tree import Tree, walk
from ...names.scopes import BindingKind
from ...project.facts import ParsedModule, ProjectFacts
from ...training import members_of_task
from .brought import import_of, named_in_file, of_module, place_of
from .inlined import IsModelFn, follows_step, knows_of_tasks
from .objects import methods_of

_ABSTRACT = "raise NotImplementedError\n"
_Places = dict[cst.CSTNode, Any]


@dataclass(frozen=True)
class _Class:
    """A class, with the number of its file and the classes that it extends."""

    number: int
    tree: Tree
    node: cst.ClassDef
    above: tuple[_Class, ...] = ()

    def methods(self) -> dict[str, cst.FunctionDef]:
        return {one.name.value: one for one in methods_of(self.node)}

    def resolved(self, name: str) -> tuple[_Class, cst.FunctionDef] | None:
        """The method that an object of the class has under a name, and its class."""
        for one in (self, *self.above):
            if name in one.methods():
                return one, one.methods()[name]
        return None

    def reached(self, start: str) -> dict[str, tuple[_Class, cst.FunctionDef]]:
        """Methods that one calls, or that these call, by name."""
        found: dict[str, tuple[_Class, cst.FunctionDef]] = {}
        names = [start]
        for name in names:
            told = self.resolved(name)
            if told is None or name in found:
                continue
            found[name] = told
            names += [one.attr.value for one in _own(told[1].body)]
        return found


def with_model_fns_in_subclasses(
    files: Sequence[ParsedModule], facts: ProjectFacts, is_model_fn: IsModelFn
) -> list[ParsedModule]:
    """The files whose model functions call no method that other classes say.

    ``self.network(inputs)`` makes its layers in classes that extend the one with the
    model function: each of them gets that, and what it asks of the base class.
    """
    for number, parsed in enumerate(files):
        for node in parsed.each(cst.ClassDef):
            functions = [one for one in methods_of(node) if is_model_fn(one)]
            if len(functions) == 1:
                edits = _Base(files, facts, number, node, functions[0]).edits()
                if edits is not None:
                    return with_model_fns_in_subclasses(
                        [
                            changed(one, facts, edits[place]) if edits[place] else one
                            for place, one in enumerate(files)
                        ],
                        facts,
                        is_model_fn,
                    )
    return [*files]


class _Base:
    """A class with a model function, and those that extend it."""

    def __init__(
        self,
        files: Sequence[ParsedModule],
        facts: ProjectFacts,
        number: int,
        node: cst.ClassDef,
        model_fn: cst.FunctionDef,
    ) -> None:
        self.files = files
        self.facts = facts
        self.model_fn = model_fn
        parsed = files[number]
        self.base = _Class(number, Tree(parsed.module, parsed.resolver), node)

    def edits(self) -> list[_Places] | None:
        """What changes in each file; None where nothing is to be moved."""
        name = self.model_fn.name.value
        below = [*self._below(self.base)]
        if any(name in one.methods() for one in below) or not below:
            return None
        found: list[_Places] = [{} for _ in self.files]
        gone: set[str] = set()
        takers = set()
        wanted = False
        for one in below:
            reached = one.reached(name)
            if all(holder is not one for holder, _ in reached.values()):
                continue
            takers.add(one)
            laying = {
                word
                for word, (holder, method) in reached.items()
                if word == name
                or knows_of_tasks(holder.tree, method, of_method=True)
                or follows_step(holder.tree, method, ())
            }
            wanted = wanted or any(reached[word][0] is one for word in laying)
            moved = [reached[w] for w in reached if w in laying]
            moved = [(holder, method) for holder, method in moved if holder is not one]
            lines = self._imports(one, moved)
            if lines is None:
                return None
            gone |= laying
            more = [method for _, method in moved[::-1]]
            found[one.number][one.node] = _extended(more, lines)
        alone = [one for one in below if takers.isdisjoint((one, *one.above))]
        if not wanted or alone or self._is_made() or self._asks_for(gone):
            return None
        places = found[self.base.number]
        for word in (gone - {name}) & {*self.base.methods()}:
            places[self.base.methods()[word]] = None
        places[self.model_fn] = _abstract(self.model_fn)
        return found

    def _below(self, base: _Class) -> Iterator[_Class]:
        """Classes that extend one, those nearer to it first."""
        told = os.path.abspath(self.files[base.number].path), base.node.name.value
        for number, parsed in enumerate(self.files):
            for node in parsed.each(cst.ClassDef):
                if any(
                    named_in_file(one.value, parsed, self.facts) == told
                    for one in node.bases
                ):
                    tree = Tree(parsed.module, parsed.resolver)
                    one = _Class(number, tree, node, (base, *base.above))
                    yield one
                    yield from self._below(one)

    def _asks_for(self, names: set[str]) -> bool:
        """Other methods of the base class call methods that go."""
        calling = [
            one for word, one in self.base.methods().items() if word not in names
        ]
        return any(
            isinstance(node.func, cst.Attribute) and node.func.attr.value in names
            for one in calling
            for node in walk(one, cst.Call)
        )

    def _is_made(self) -> bool:
        """Something makes an object of the base class itself."""
        path = os.path.abspath(self.files[self.base.number].path)
        told = path, self.base.node.name.value
        return any(
            named_in_file(node.func, parsed, self.facts) == told
            for parsed in self.files
            for node in parsed.each(cst.Call)
        )

    def _imports(
        self, taker: _Class, moved: Sequence[tuple[_Class, cst.FunctionDef]]
    ) -> list[cst.SimpleStatementLine] | None:
        """Imports that methods need in another file; None where they may not go."""
        there = self.files[taker.number].resolver.scopes.module_scope.bindings
        lines: dict[str, cst.SimpleStatementLine] = {}
        for holder, method in moved:
            words = {one.value for one in walk(method, cst.Name)}
            private = any(w.startswith("__") and not w.endswith("__") for w in words)
            if "super" in words or private or method.decorators:
                return None
            if holder.number == taker.number:
                continue
            for name, bound in of_module(holder.tree, method):
                known = there.get(name.value, ())
                line = import_of(holder.tree, name.value)
                if bound.kind is not BindingKind.IMPORT or line is None:
                    return None
                if not known:
                    lines[name.value] = line
                elif place_of(known[0]) != place_of(bound):
                    return None
        return [*lines.values()]


def _extended(
    methods: Sequence[cst.FunctionDef], lines: Sequence[cst.SimpleStatementLine]
) -> Any:
    """Adds methods to a class, and imports above it."""

    def more(now: cst.ClassDef) -> list[cst.BaseStatement]:
        body = [*now.body.body, *(one.deep_clone() for one in methods)]
        made = now.with_changes(body=now.body.with_changes(body=body))
        return [*lines, made]

    return more


def _abstract(method: cst.FunctionDef) -> cst.FunctionDef:
    """A method that makes a Task, which each class says for itself."""
    kept = [one for one in method.params.params if one.name.value in ("self", "params")]
    kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    body = cst.IndentedBlock([cst.parse_statement(_ABSTRACT)])
    return method.with_changes(params=cst.Parameters(kept), body=body)


def with_methods_shared(
    parsed: ParsedModule, facts: ProjectFacts, tasks: Sequence[str]
) -> ParsedModule:
    """The file whose Tasks of classes with one base class share what they all say."""
    tree = Tree(parsed.module, parsed.resolver)
    classes = {one.name.value: one for one in tree.each(cst.ClassDef)}
    related: dict[str, list[cst.ClassDef]] = {}
    for one in classes.values():
        for node in walk(one.body, cst.Call):
            made = tree.code(node.func)
            if made in tasks and len(one.bases) == 1 and made in classes:
                base = tree.code(one.bases[0].value)
                related.setdefault(base, []).append(classes[made])
    places: _Places = {}
    for base, alike in related.items():
        name = f"{re.sub('Model$|Estimator$', '', base)}Task"
        told = [{m.name.value: tree.code(m) for m in methods_of(t)} for t in alike]
        stored = set.intersection(*map(_stores, alike)) | members_of_task()
        common = [
            one
            for one in methods_of(alike[0])
            if all(other.get(one.name.value) == tree.code(one) for other in told)
            and {node.attr.value for node in _own(one)} <= stored
        ]
        if len(alike) < 2 or not common or name in classes:
            continue
        words = {one.name.value for one in common}
        for task in alike:
            kept = [one for one in task.body.body if one not in methods_of(task)]
            kept += [one for one in methods_of(task) if one.name.value not in words]
            places[task] = task.with_changes(
                bases=[cst.Arg(cst.Name(name))],
                body=task.body.with_changes(body=kept or [cst.parse_statement("...")]),
            )
        first = common[0].with_changes(leading_lines=[])
        body = alike[0].body.with_changes(body=[first, *common[1:]])
        shared = alike[0].with_changes(name=cst.Name(name), body=body)
        places[alike[0]] = [shared, places[alike[0]]]
    return changed(parsed, facts, places) if places else parsed


def _own(node: cst.CSTNode) -> list[cst.Attribute]:
    """Where code names attributes of its object."""
    return [
        one
        for one in walk(node, cst.Attribute)
        if isinstance(one.value, cst.Name) and one.value.value == "self"
    ]


def _stores(task: cst.ClassDef) -> set[str]:
    """What a Task gives to its object."""
    targets = {one.target for one in walk(task, cst.AssignTarget)}
    return {one.attr.value for one in _own(task) if one in targets}
