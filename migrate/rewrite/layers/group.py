"""The model functions of a program, lifted together, in whatever file they are."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import libcst as cst

from ...code.blocked import Blocked
from ...code.spacing import with_blank_lines
from ...code.tree import Tree, walk
from ...model.evaluator import evaluated
from ...model.notes import Notes
from ...project.facts import ParsedModule, ProjectFacts
from ...project.positions import code_of
from .definitions import ModelFunction
from .files import File, Lifted, import_text, imported
from .notices import Stays
from .proof import Traced, again, difference

__all__ = ["Understood", "reached", "understood"]

# Functions that are found to keep their layers, one after the other.
_MOST_ROUNDS = 60


# Model functions that stay as they are: where, and why.
Kept = dict[cst.CSTNode, tuple[Path, int, str]]


@dataclass
class Understood:
    """What became of the model functions of some files."""

    # Modules that change, and the model functions that each file has, by its path.
    modules: dict[str, ParsedModule] = field(default_factory=dict)
    made: dict[str, list[str]] = field(default_factory=dict)
    # (file, line, reason) of those that are kept as they are.
    left: list[tuple[Path, int, str]] = field(default_factory=list)
    # Functions that the model functions call, and those of them that are kept.
    entered: frozenset[cst.CSTNode] = frozenset()


class _Group:
    """The model functions of some files."""

    def __init__(self, files: Sequence[ParsedModule], facts: ProjectFacts) -> None:
        self.files = list(files)
        self.facts = facts
        # What their evaluations have found out, together.
        self.notes = Notes()
        self.trees = [Tree(one.module, one.resolver) for one in files]
        self.functions: list[ModelFunction] = []
        # What model functions that are kept call, and the words of all this code.
        self.needed: set[cst.CSTNode] = set()
        self.words: set[str] = set()

    def evaluate(self, parsed: ParsedModule, defined: cst.FunctionDef) -> None:
        """Adds a model function."""
        self.lifting = ModelFunction(parsed, defined)
        self.lifting.evaluate(self.facts, self.files, self.notes)
        self.functions.append(self.lifting)

    def lift(self) -> Lifted:
        """The edits for all model functions, or raises Blocked."""
        for _ in range(_MOST_ROUNDS):
            lifted = Lifted(
                self.facts,
                {
                    os.path.abspath(one.path): File(one, tree)
                    for one, tree in zip(self.files, self.trees, strict=True)
                },
                self.notes,
                model_functions=frozenset(one.defined for one in self.functions),
            )
            try:
                for one in self.functions:
                    self.lifting = one
                    one.lift(lifted)
            except Stays as stays:
                self.notes.staying.add(stays.node)
                continue
            return lifted
        raise self.functions[0].stop("it calls too many functions with layers")

    def need(self, parsed: ParsedModule, defined: cst.FunctionDef) -> None:
        """What a model function calls that is kept has to stay as it is."""
        evaluator = evaluated(self.facts, self.files, parsed, defined)
        reached = evaluator.notes.reached(defined.body)
        self.needed |= {defined, *reached}
        for node in (defined, *reached):
            self.words |= {n.value for n in walk(node, cst.Name)}

    def shared(self, lifted: Lifted) -> list[tuple[ModelFunction, cst.CSTNode]]:
        """Functions that would be lifted where they stand, and are needed as they are.

        With the model functions that call them.
        """
        own = {one.defined for one in self.functions}
        found: list[tuple[ModelFunction, cst.CSTNode]] = []
        for node in lifted.standing - own:
            assert isinstance(node, cst.FunctionDef)
            file = lifted.file_holding(node)
            inside = file is None or file.tree.function(node) is not None
            if node in self.needed or (not inside and node.name.value in self.words):
                found += [(f, node) for f in self.functions if node in f.entered]
        return found

    def finish(self, lifted: Lifted) -> dict[str, ParsedModule]:
        """The modules that change, by their paths, as they read then."""
        kept: set[cst.CSTNode] = set()
        while True:
            # A function that is kept calls others.
            more = {
                node
                for node in lifted.helpers
                if node not in kept and self._is_used(lifted, node, kept)
            }
            if not more:
                break
            kept |= more
        for node in lifted.helpers:
            if node in kept:
                self._keep(lifted, node)
        for file in lifted.files.values():
            for statement, names in file.imports.items():
                file.edits.nodes[statement] = imported(file, statement, names)
        return {
            path: self._again(file.parsed, file.edits.apply(file.parsed.module))
            for path, file in lifted.files.items()
            if file.edits.touched()
        }

    def _again(self, parsed: ParsedModule, module: cst.Module) -> ParsedModule:
        return self.facts.module_of(parsed.source.with_text(code_of(module)))

    def _keep(self, lifted: Lifted, node: cst.CSTNode) -> None:
        """Leaves a function beside its class."""
        assert isinstance(node, cst.FunctionDef)
        file = lifted.file_of(lifted.helpers[node].function.module)
        assert file is not None
        file.kept.add(node)
        file.edits.replace[node] = [
            with_blank_lines(node, 0),
            *file.edits.replace[node],
        ]

    def _is_used(
        self, lifted: Lifted, node: cst.CSTNode, kept: set[cst.CSTNode]
    ) -> bool:
        """A function with a class in its place is used in another way too."""
        assert isinstance(node, cst.FunctionDef)
        if node in self.needed:
            return True
        file = lifted.file_of(lifted.helpers[node].function.module)
        assert file is not None
        calls = [
            one
            for one in lifted.called[node]
            if not any(
                other.tree.holds(one) and kept.intersection(other.tree.ancestors(one))
                for other in lifted.files.values()
            )
        ]
        name = node.name.value
        used = len(file.tree.loads_of(node))
        used -= sum(1 for one in calls if file.tree.holds(one))
        words = re.compile(rf"\b{name}\b")
        for path in self.facts.importers(file.parsed.path):
            other = lifted.files.get(os.path.abspath(path))
            if other is not None:
                used += len(words.findall(other.tree.text))
                used -= sum(1 for one in calls if other.tree.holds(one))
                used -= sum(
                    len(words.findall(import_text(one))) for one in other.imports
                )
            else:
                used += len(words.findall(path.read_text("utf-8", "replace")))
        return used > 0

    def unlike(self, modules: dict[str, ParsedModule]) -> Kept:
        """Model functions that would not make the same variables, and why."""
        files = {os.path.abspath(one.path): one for one in self.files} | modules
        found: Kept = {}
        for one in self.functions:
            parsed = files[os.path.abspath(one.parsed.path)]
            before = Traced(self.files, one.parsed, one.defined, self.facts)
            defined = again(one.parsed, one.defined, parsed)
            after = Traced([*files.values()], parsed, defined, self.facts, before)
            why = difference(before, after)
            if why is not None:
                found[one.defined] = (one.parsed.path, *_told(one.stop(why)))
        return found


def understood(
    files: Sequence[ParsedModule],
    facts: ProjectFacts,
    is_model_fn: Callable[[cst.CSTNode], bool],
) -> Understood:
    """Lifts the model functions of some files by evaluating them.

    What is not understood is kept as it is, with all that it calls.
    """
    every = [
        (parsed, node)
        for parsed in files
        for node in parsed.nodes
        if isinstance(node, cst.FunctionDef) and is_model_fn(node)
    ]
    helpers = _helpers(every, files, facts)
    kept: Kept = {}
    while True:
        found = Understood()
        group = _Group(files, facts)
        more = _lifted(group, every, helpers, kept, found)
        kept |= more
        if not more or len(kept) == len(every) - len(helpers):
            break
    if more:
        found = Understood()
    found.left = list(kept.values())
    found.entered |= group.needed
    return found


def _lifted(
    group: _Group,
    every: Sequence[tuple[ParsedModule, cst.FunctionDef]],
    helpers: set[cst.CSTNode],
    kept: Kept,
    found: Understood,
) -> Kept:
    """Lifts all model functions but those that are kept; returns what has to be too."""
    # What others call with more arguments keeps its specification: it stays.
    group.notes.staying |= helpers
    more: Kept = {}
    for parsed, node in every:
        if node in kept:
            group.need(parsed, node)
        elif node not in helpers:
            try:
                group.evaluate(parsed, node)
            except Blocked as stop:
                more[node] = (parsed.path, *_told(stop))
    if more or not group.functions:
        return more
    try:
        lifted = group.lift()
    except Blocked as stop:
        one = group.lifting
        return {one.defined: (one.parsed.path, *_told(stop))}
    for one, shared in group.shared(lifted) if kept else ():
        assert isinstance(shared, cst.FunctionDef)
        why = f"`{shared.name.value}` is shared with a model function that is kept"
        more[one.defined] = (one.parsed.path, *_told(one.stop(why)))
    if more:
        return more
    found.modules = group.finish(lifted)
    more = group.unlike(found.modules)
    found.made = {path: one.made for path, one in lifted.files.items()}
    found.entered = frozenset(group.notes.parameters)
    return more


def reached(
    files: Sequence[ParsedModule],
    facts: ProjectFacts,
    is_model_fn: Callable[[cst.CSTNode], bool],
) -> set[cst.CSTNode]:
    """The model functions of some files, and all functions that these enter."""
    found: set[cst.CSTNode] = set()
    for parsed in files:
        for node in parsed.nodes:
            if isinstance(node, cst.FunctionDef) and is_model_fn(node):
                notes = evaluated(facts, files, parsed, node).notes
                found |= {node, *notes.reached(node.body)}
    return found


def _helpers(
    every: Sequence[tuple[ParsedModule, cst.FunctionDef]],
    files: Sequence[ParsedModule],
    facts: ProjectFacts,
) -> set[cst.CSTNode]:
    """Model functions that others of them call."""
    if len(every) < 2:
        return set()
    called: set[cst.CSTNode] = set()
    for parsed, node in every:
        notes = evaluated(facts, files, parsed, node).notes
        called |= notes.reached(node.body) - {node}
    return {node for _, node in every if node in called}


def _told(stop: Blocked) -> tuple[int, str]:
    return stop.line, stop.reason
