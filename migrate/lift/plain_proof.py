"""Whether a plain class does what the statements did that it stands for.

The model function is evaluated twice: as it was, and with the class in the place of
its layers. Both without scopes, which such a class has not, and with tests for training
and functions of today in the same words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

import libcst as cst

from ..emit.programs.layer_class import class_statement
from ..interp.in_mode import InMode
from ..plan.code.modern import modern_call
from ..plan.code.source import Source
from ..plan.code.tree import Statement, walk
from ..plan.program import TF, LayerClass
from ..project.facts import ParsedModule, ProjectFacts
from ..project.parsing import parse
from ..project.positions import code_of
from .forward import Forward
from .plain import TESTS, in_scope, said_of_mode
from .proof import Traced, difference

__all__ = ["PlainProof"]

_STATEMENTS = (cst.SimpleStatementLine, cst.BaseCompoundStatement)
_SCOPED = f"{TF}.estimator.ScopedModel"
_TRAINS = f"mode == {TF}.estimator.ModeKeys.TRAIN"
_FLAGS = {"training": f"({_TRAINS})", "not training": f"(not ({_TRAINS}))"}


class PlainProof:
    """Compares a model function with what a class makes of it."""

    def __init__(
        self,
        facts: ProjectFacts,
        parsed: ParsedModule,
        source: Source,
        modes: Mapping[str, InMode],
    ) -> None:
        self.facts = facts
        self.parsed = parsed
        self.source = source
        self.modes = modes

    def difference(self, made: LayerClass, forward: Forward) -> str | None:
        """How the class differs from the statements that it has taken, or None."""
        # What is read in modes that the program never asks for is made as well.
        names = (*forward.outputs, *sorted(self._read(forward) - {*forward.outputs}))
        values = ", ".join(names)
        given = ", ".join(made.parameters)
        call = f"{values} = {made.name}({given})(features, training={_TRAINS})"
        lines = (*made.call[:-1], f"return {values}\n")
        stands = class_statement(replace(made, base=_SCOPED, call=lines), str)
        return self.compared(stands, call, forward.nodes)

    def _read(self, forward: Forward) -> set[str]:
        """What the statements made that others read."""
        found = self.source.tree.resolver.scopes.loads
        return forward.made & {
            node.value
            for node in walk(self.source.defined.body)
            if isinstance(node, cst.Name)
            and node in found
            and node not in forward.nodes
        }

    def compared(
        self, made: Statement, call: str, taken: Set[cst.CSTNode]
    ) -> str | None:
        """How a class, called by a statement, differs from what it has taken."""
        sides = (
            self._changed(_Plain(self, frozenset(), ""), []),
            self._changed(_Plain(self, taken, call), [made]),
        )
        before, after = (Traced([p], p, node, self.facts) for p, node in sides)
        return difference(before, after)

    def _changed(
        self, change: _Plain, classes: Sequence[Statement]
    ) -> tuple[ParsedModule, cst.FunctionDef]:
        """The module with the model function changed, and this function."""
        defined = self.source.defined
        module = self.parsed.module
        changed = defined.visit(change)
        assert isinstance(changed, cst.FunctionDef)
        imports = cst.parse_statement(f"import tensorflow as {TF}")
        place = module.body.index(defined)
        body = (*module.body[:place], imports, *classes, changed)
        body = (*body, *module.body[place + 1 :])
        text = code_of(module.with_changes(body=body))
        source = replace(self.parsed.source, text=text, module=parse(text))
        parsed = self.facts.module_of(source)
        found = parsed.module.body[place + len(classes) + 1]
        assert isinstance(found, cst.FunctionDef)
        return parsed, found


class _Plain(cst.CSTTransformer):
    """A model function without scopes; with a call in the place of statements."""

    def __init__(self, proof: PlainProof, taken: Set[cst.CSTNode], call: str) -> None:
        self.source = proof.source
        self.modes = proof.modes
        self.taken = taken
        self.call = call
        self.last = next(
            (n for n in reversed([*walk(self.source.defined)]) if self._goes(n)), None
        )

    def _goes(self, node: cst.CSTNode) -> bool:
        """A statement that the class has taken; its parts go along."""
        around = self.source.tree.parent(node)
        statement = isinstance(
            node, (cst.SimpleStatementLine, cst.BaseCompoundStatement)
        )
        return statement and node in self.taken and around not in self.taken

    def _flag(self, node: cst.CSTNode) -> str:
        said = said_of_mode(self.modes, node) if isinstance(node, TESTS) else None
        return said or ""

    def on_visit(self, node: cst.CSTNode) -> bool:
        return not self._flag(node) and not self._goes(node)

    def on_leave(
        self, original: cst.CSTNodeT, updated: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        if self._goes(original):
            if original is not self.last:
                return cst.RemoveFromParent()
            return cst.parse_statement(self.call)  # type: ignore[return-value]
        flag = self._flag(original)
        if flag:
            return cst.parse_expression(_FLAGS[flag])  # type: ignore[return-value]
        return super().on_leave(original, updated)

    def leave_With(
        self, original_node: cst.With, updated_node: cst.With
    ) -> cst.BaseStatement | cst.FlattenSentinel[cst.BaseStatement]:
        if in_scope(self.source, original_node) is None:
            return updated_node
        body = updated_node.body
        assert isinstance(body, cst.IndentedBlock)
        return cst.FlattenSentinel(body.body)

    def leave_Call(
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        symbol = self.source.tree.symbol(original_node.func)
        return modern_call(symbol, updated_node) or updated_node
