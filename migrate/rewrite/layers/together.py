"""Model functions of a program whose layers become Keras classes.

Only definitions change: whatever stands behind the forward pass (loss, metrics,
optimizer, specifications) stays as it was written, and so does everything around the
model function. What comes out is still a program of TensorFlow 1.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path

import libcst as cst

from ...code.blocked import Blocked
from ...code.edits import changed
from ...code.spacing import with_blank_lines
from ...code.tree import Tree, walk
from ...model.evaluator import evaluate
from ...model.notes import Notes
from ...model.tracing import Tracer
from ...project.facts import ParsedModule, ProjectFacts
from ...project.guard import check_output
from .definitions import ModelFunction
from .files import File, Lifted, import_text, imported
from .model_functions import is_model_fn
from .moved_scopes import with_scopes_in_functions
from .one_line import one_in_each
from .own_scopes import with_arg_scopes_written_out, without_scope_makers
from .proof import again, difference
from .scopes import handed_by_scopes, with_scopes_said
from .taken import Stays

# Functions that are found to keep their layers, one after the other.
_MOST_ROUNDS = 60


def lifted_together(
    files: Sequence[ParsedModule], facts: ProjectFacts
) -> list[ParsedModule]:
    """The files of a program with its model functions lifted; raises Blocked.

    Statements that stand in one line are set apart where that is what it takes.
    """
    files = [with_arg_scopes_written_out(one, facts) for one in files]
    files = with_scopes_in_functions(files, facts)
    files = [with_arg_scopes_written_out(one, facts) for one in files]
    files = without_scope_makers(files, facts)
    files = [with_scopes_said(one, facts) for one in files]
    group = _Group(files, facts)
    try:
        return group.lifted()
    except Blocked:
        own = {node for one in group.every for node in (one.defined, *one.entered)}
        apart = [one_in_each(one, facts, own) for one in files]
        if apart != files:
            with suppress(Blocked):
                return _Group(apart, facts).lifted()
        raise


class _Group:
    """The model functions of some files."""

    def __init__(
        self, files: list[ParsedModule], facts: ProjectFacts, *, said: bool = False
    ) -> None:
        self.files = files
        # Functions are given what scopes around their calls say.
        self.said = said
        self.facts = facts
        self.every = self._evaluated(frozenset())
        # Those with layers.
        self.functions: list[ModelFunction] = []

    def _evaluated(self, helpers: frozenset[cst.CSTNode]) -> list[ModelFunction]:
        """The model functions that no other one of them calls."""
        # What their evaluations find out, together.
        self.notes = Notes()
        every = [
            ModelFunction(parsed, node, self.files, self.facts, self.notes)
            for parsed in self.files
            for node in parsed.each(cst.FunctionDef)
            if is_model_fn(node) and node not in helpers
        ]
        called = {
            one.defined
            for one in every
            if any(one.defined in other.entered for other in every if other is not one)
        }
        if called:
            return self._evaluated(helpers | called)
        # What others call with more arguments keeps its specification: it stays.
        self.notes.staying |= helpers
        return every

    def lifted(self) -> list[ParsedModule]:
        """The files as they read once all are lifted; raises Blocked."""
        try:
            found = self._lifted()
        except Blocked as stop:
            if stop.reason.endswith(f":{stop.line})"):
                raise
            where = f"{self.lifting.parsed.path.name}:{stop.line}"
            raise Blocked(stop.line, f"{stop.reason} ({where})") from None
        for before, after in zip(self.files, found, strict=True):
            if after is not before:
                _check(before, after)
        return found

    def _lifted(self) -> list[ParsedModule]:
        for one in self.every:
            self.lifting = one
            if one.has_layers():
                self.functions.append(one)
        own = {node for one in self.every for node in (one.defined, *one.entered)}
        handed = {} if self.said else handed_by_scopes(self.files, own, self.notes)
        if handed:
            return _Group(self._with(handed), self.facts, said=True).lifted()
        if not self.functions:
            return self.files
        modules = self._finish(self._lift())
        found = [modules.get(os.path.abspath(one.path), one) for one in self.files]
        if modules:
            self._prove(found)
        return found

    def _with(self, places: dict[cst.CSTNode, object]) -> list[ParsedModule]:
        """The files with edits of some of their nodes."""
        found: list[ParsedModule] = []
        for one in self.files:
            tree = Tree(one.module, one.resolver)
            own = {node: places[node] for node in filter(tree.holds, places)}
            found.append(changed(one, self.facts, own) if own else one)
        return found

    def _lift(self) -> Lifted:
        """The edits for all model functions."""
        for _ in range(_MOST_ROUNDS):
            lifted = Lifted(
                self.facts,
                {
                    os.path.abspath(one.path): File(one, Tree(one.module, one.resolver))
                    for one in self.files
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
        raise self.lifting.stop("it calls too many functions with layers")

    def _finish(self, lifted: Lifted) -> dict[str, ParsedModule]:
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
                _keep(lifted, node)
        for file in lifted.files.values():
            for statement, names in file.imports.items():
                file.edits.nodes[statement] = imported(file, statement, names)
        return {
            path: changed(file.parsed, self.facts, file.edits)
            for path, file in lifted.files.items()
            if file.edits.touched()
        }

    def _is_used(
        self, lifted: Lifted, node: cst.CSTNode, kept: Collection[cst.CSTNode]
    ) -> bool:
        """A function with a class in its place is used in another way too."""
        assert isinstance(node, cst.FunctionDef)
        file = lifted.file_of(lifted.helpers[node].function.module)
        assert file is not None
        calls = [
            one
            for one in lifted.called[node]
            if not any(
                other.tree.holds(one)
                and any(above in kept for above in other.tree.ancestors(one))
                for other in lifted.files.values()
            )
        ]
        name = node.name.value
        used = len(file.tree.loads_of(node))
        used -= sum(1 for one in calls if file.tree.holds(one))
        words = re.compile(rf"\b{name}\b")
        for path in self.facts.importers(file.parsed.path):
            other = lifted.files.get(os.path.abspath(path))
            if other is not None and _by_module(other, name, file.parsed.path):
                attributes = walk(other.tree.module, cst.Attribute)
                used += sum(one.attr.value == name for one in attributes)
                used -= sum(1 for one in calls if other.tree.holds(one))
            elif other is not None:
                used += _named(other, name, words)
                used -= sum(1 for one in calls if other.tree.holds(one))
                used -= sum(
                    len(words.findall(import_text(one))) for one in other.imports
                )
            else:
                used += len(words.findall(path.read_text("utf-8", "replace")))
        return used > 0

    def _prove(self, after: Sequence[ParsedModule]) -> None:
        """Raises where a model function would not do the same."""
        for one in self.functions:
            self.lifting = one
            parsed = after[self.files.index(one.parsed)]
            defined = again(one.parsed, one.defined, parsed)
            new = Tracer(self.facts, after)
            evaluate(new, parsed, defined)
            why = difference(one.traced, new)
            if why is not None:
                raise one.stop(why)


def _check(before: ParsedModule, after: ParsedModule) -> None:
    """Raises where a file would not work after an edit."""
    check_output(
        before.source.text,
        after.source.text,
        scopes=before.resolver.scopes,
        parsed=(after.module, after.resolver.scopes),
        cells=before.source.notebook is not None,
    )


def _by_module(file: File, name: str, path: Path) -> bool:
    """A file means a module by a name that is also that of a function in it."""
    imports = [*walk(file.tree.module, cst.ImportFrom)]
    modules = [file.tree.code(one.module) for one in imports if one.module is not None]
    direct = any(one.rpartition(".")[2] == name for one in modules)
    return path.stem == name and not direct and "__all__" not in file.tree.text


def _named(file: File, name: str, words: re.Pattern[str]) -> int:
    """How often the code of a file says a name, its imports included."""
    if "__all__" in file.tree.text:
        return len(words.findall(file.tree.text))
    keywords = {one.keyword for one in walk(file.tree.module, cst.Arg)}
    names = walk(file.tree.module, cst.Name)
    return sum(one.value == name and one not in keywords for one in names)


def _keep(lifted: Lifted, node: cst.CSTNode) -> None:
    """Leaves a function beside its class."""
    assert isinstance(node, cst.FunctionDef)
    file = lifted.file_of(lifted.helpers[node].function.module)
    assert file is not None
    file.kept.add(node)
    file.edits.replace[node] = [with_blank_lines(node, 0), *file.edits.replace[node]]
