"""One model function, and what it calls, on their way to Keras classes."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ...code.blocked import Blocked
from ...code.tree import Tree, walk
from ...model.evaluator import evaluated
from ...model.notes import Notes
from ...project.facts import ParsedModule, ProjectFacts
from .classes import Classes
from .files import File, Lifted
from .notices import let_stay
from .regions import Standing
from .scopes import check_outer_scopes


class ModelFunction:
    """A model function: what its evaluation found, and its edits."""

    def __init__(self, parsed: ParsedModule, defined: cst.FunctionDef) -> None:
        self.parsed = parsed
        self.tree = Tree(parsed.module, parsed.resolver)
        self.defined = defined
        self.notes = Notes()
        # Functions that this one enters.
        self.entered: set[cst.CSTNode] = set()

    def stop(self, reason: str, node: cst.CSTNode | None = None) -> Blocked:
        """What to raise where the function cannot be lifted."""
        line = self.tree.line(self.defined if node is None else node)
        return Blocked(line, f"model_fn: {reason}")

    def stop_in(self, tree: Tree, name: str, node: cst.CSTNode, reason: str) -> Blocked:
        """The same for a node of any file."""
        if tree.module is self.parsed.module:
            return self.stop(reason, node)
        return self.stop(f"{reason} ({name}:{tree.line(node)})")

    def evaluate(
        self, facts: ProjectFacts, files: Sequence[ParsedModule], notes: Notes
    ) -> bool:
        """Tells whether it has layers; raises Blocked at what is not understood."""
        self.notes = notes
        unknown, passed = set(notes.unknown), set(notes.passed)
        keras = len(notes.keras)
        evaluated(facts, files, self.parsed, self.defined, notes)
        self.entered = notes.reached(self.defined.body)
        for node, one in notes.unknown.items():
            if node not in unknown:
                raise self._stop_at(one.module, node, one.reason)
        check_outer_scopes(files, {self.defined, *self.entered}, notes)
        if self._is_made() or keras < len(notes.keras):
            return True
        for node, one in notes.passed.items():
            if node not in passed:
                raise self._stop_at(one.module, node, one.reason)
        return False

    def _is_made(self) -> bool:
        """It makes layers that are not of Keras."""
        return any(
            node in self.notes.made
            for one in (self.defined, *self.entered)
            for node in walk(one)
        )

    def _stop_at(self, module: ParsedModule, node: cst.CSTNode, reason: str) -> Blocked:
        tree = Tree(module.module, module.resolver)
        return self.stop_in(tree, module.path.name, node, reason)

    def lift(self, lifted: Lifted) -> None:
        """Adds the edits for it and for what it calls."""

        def stop(file: File, node: cst.CSTNode, reason: str) -> Blocked:
            return self.stop_in(file.tree, file.parsed.path.name, node, reason)

        classes = Classes(lifted, stop)
        own = lifted.file_of(self.parsed)
        assert own is not None
        Standing(classes, own, self.defined).lift()
        for file in lifted.files.values():
            for node in file.parsed.nodes:
                if node not in self.notes.staying or node not in self.entered:
                    continue
                if node in lifted.standing:
                    continue
                if not isinstance(node, cst.FunctionDef):
                    let_stay(self.notes, node)
                    if self.notes.makes(node):
                        raise stop(file, node, "layers in a lambda")
                    continue
                lifted.standing.add(node)
                try:
                    Standing(classes, file, node).lift()
                except Blocked as blocked:
                    if file is own:
                        raise
                    reason = blocked.reason.removeprefix("model_fn: ")
                    line = blocked.line
                    if not reason.endswith(")") or ".py:" not in reason:
                        reason = f"{reason} ({file.parsed.path.name}:{line})"
                    raise self.stop(reason) from None
