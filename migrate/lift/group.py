"""The model functions of a program, lifted together, in whatever file they are."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import libcst as cst

from ..emit.module.spacing import with_blank_lines
from ..interp.evaluator import evaluated
from ..interp.notes import Notes
from ..plan.code.tree import Tree, walk
from ..plan.sites import Blocked
from ..project.facts import ParsedModule, ProjectFacts
from ..project.parsing import parse
from ..project.positions import code_of
from .definitions import ModelFunction
from .files import File, Lifted, import_text, imported
from .notices import Stays
from .proof import difference

__all__ = ["Understood", "shares_columns", "understood"]

# Functions that are found to keep their layers, one after the other.
_MOST_ROUNDS = 60


@dataclass
class Understood:
    """What became of a program's model functions: all of them are lifted, or none."""

    # Modules that change, and the model functions that each file has, by its path.
    modules: dict[str, cst.Module] = field(default_factory=dict)
    made: dict[str, list[str]] = field(default_factory=dict)
    # (file, line, reason) of what is not understood.
    left: list[tuple[Path, int, str]] = field(default_factory=list)
    # Functions that the model functions call.
    entered: frozenset[cst.CSTNode] = frozenset()


class _Group:
    """The model functions of some files."""

    def __init__(self, files: Sequence[ParsedModule], facts: ProjectFacts) -> None:
        self.files = list(files)
        self.facts = facts
        # What their evaluations have found out, together.
        self.notes = Notes()
        # Columns are made anywhere, also where no model function sees it.
        self.notes.shared_columns = shares_columns(files)
        self.trees = [Tree(one.module, one.resolver) for one in files]
        self.functions: list[ModelFunction] = []

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

    def finish(self, lifted: Lifted) -> dict[str, cst.Module]:
        """The modules that change, by their paths."""
        for node in lifted.helpers:
            assert isinstance(node, cst.FunctionDef)
            self._keep(lifted, node)
        for file in lifted.files.values():
            for statement, names in file.imports.items():
                file.edits.nodes[statement] = imported(file, statement, names)
        return {
            path: file.edits.apply(file.parsed.module)
            for path, file in lifted.files.items()
            if file.edits.touched()
        }

    def _keep(self, lifted: Lifted, node: cst.FunctionDef) -> None:
        """Leaves a function where it is used in another way too."""
        file = lifted.file_of(lifted.helpers[node].function.module)
        assert file is not None
        calls = lifted.called[node]
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
        if used > 0:
            file.edits.replace[node] = [
                with_blank_lines(node, 0),
                *file.edits.replace[node],
            ]

    def unlike(self, modules: dict[str, cst.Module]) -> list[tuple[Path, int, str]]:
        """Model functions that would not make the same variables, and why."""
        files: dict[str, ParsedModule] = {}
        for parsed in self.files:
            path = os.path.abspath(parsed.path)
            files[path] = parsed
            if path in modules:
                text = code_of(modules[path])
                source = replace(parsed.source, text=text, module=parse(text))
                files[path] = self.facts.module_of(source)
        found: list[tuple[Path, int, str]] = []
        for one in self.functions:
            parsed = files[os.path.abspath(one.parsed.path)]
            name = one.defined.name.value
            why = difference(one.events, list(files.values()), parsed, name, self.facts)
            if why is not None:
                found.append((one.parsed.path, *_told(one.stop(why))))
        return found


def shares_columns(files: Sequence[ParsedModule]) -> bool:
    """Columns that share an embedding are made in one of the files."""
    return any("shared_embedding_column" in one.source.text for one in files)


def understood(
    files: Sequence[ParsedModule],
    facts: ProjectFacts,
    is_model_fn: Callable[[cst.CSTNode], bool],
) -> Understood:
    """Lifts the model functions of a program by evaluating them."""
    group = _Group(files, facts)
    found = Understood()
    every = [
        (parsed, node)
        for parsed in files
        for node in walk(parsed.module)
        if isinstance(node, cst.FunctionDef) and is_model_fn(node)
    ]
    helpers = _helpers(every, files, facts)
    # What others call with more arguments keeps its specification: it stays.
    group.notes.staying |= helpers
    for parsed, node in every:
        if node in helpers:
            continue
        try:
            group.evaluate(parsed, node)
        except Blocked as stop:
            found.left.append((parsed.path, *_told(stop)))
    if found.left or not group.functions:
        return found
    try:
        lifted = group.lift()
    except Blocked as stop:
        found.left.append((group.lifting.parsed.path, *_told(stop)))
        return found
    found.modules = group.finish(lifted)
    found.left = group.unlike(found.modules)
    if found.left:
        found.modules = {}
        return found
    found.made = {path: one.made for path, one in lifted.files.items()}
    found.entered = frozenset(group.notes.parameters)
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
    return stop.blocker.line, stop.blocker.reason
