"""One model function, and what it calls, on their way to Keras classes."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ...code.blocked import Blocked
from ...code.tree import Tree, walk
from ...model.evaluator import evaluate
from ...model.notes import Notes
from ...model.tracing import Tracer
from ...project.facts import ParsedModule, ProjectFacts
from .classes import Classes
from .files import Lifted
from .regions import Standing
from .taken import let_stay


class ModelFunction:
    """A model function: what its evaluation found, and its edits."""

    def __init__(
        self,
        parsed: ParsedModule,
        defined: cst.FunctionDef,
        files: Sequence[ParsedModule],
        facts: ProjectFacts,
        notes: Notes,
    ) -> None:
        self.parsed = parsed
        self.tree = Tree(parsed.module, parsed.resolver)
        self.defined = defined
        # What was found out, first of all what is done step by step.
        self.traced = Tracer(facts, files, notes)
        self.notes = notes
        unknown, passed, keras = len(notes.unknown), len(notes.passed), len(notes.keras)
        evaluate(self.traced, parsed, defined)
        # Functions that it enters, and what is not understood of all that.
        self.entered = notes.reached(defined.body)
        self.unknown = [*notes.unknown.values()][unknown:]
        self.passed = [*notes.passed.values()][passed:]
        self.has_keras = keras < len(notes.keras)

    def stop(self, reason: str, node: cst.CSTNode | None = None) -> Blocked:
        """What to raise where the function cannot be lifted."""
        line = self.tree.line(self.defined if node is None else node)
        return Blocked(line, f"model_fn: {reason}")

    def stop_in(self, parsed: ParsedModule, node: cst.CSTNode, reason: str) -> Blocked:
        """The same for a node of any file."""
        if parsed.module is self.parsed.module:
            return self.stop(reason, node)
        line = Tree(parsed.module, parsed.resolver).line(node)
        return self.stop(f"{reason} ({parsed.path.name}:{line})")

    def has_layers(self) -> bool:
        """Tells whether it has layers; raises Blocked at what is not understood."""
        for one in self.unknown:
            raise self.stop_in(one.module, one.node, one.reason)
        if self._is_made() or self.has_keras:
            return True
        for one in self.passed:
            raise self.stop_in(one.module, one.node, one.reason)
        return False

    def _is_made(self) -> bool:
        """It makes layers that are not of Keras."""
        return any(
            node in self.notes.made
            for one in (self.defined, *self.entered)
            for node in walk(one)
        )

    def lift(self, lifted: Lifted) -> None:
        """Adds the edits for it and for what it calls."""
        classes = Classes(lifted, self.stop_in)
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
                        raise self.stop_in(file.parsed, node, "layers in a lambda")
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
