"""Forward code that stays as it was, for a model_fn that cannot become layers.

TF2 offers a variable store for such code (``track_tf1_style_variables``): it
remembers what ``get_variable`` and ``tf.layers`` make, under the names that TF1
gave. The statements up to the model's outputs move into a method; the loss and
all that follows is read as for lifted models.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from ...symbols.nodes import children
from ..code.statements import names_in
from ..code.tree import Statement, only_small, statements_of
from .heads import head_call
from .kept_checks import check_kept, makes_variables
from .modes import MODES, Modes
from .source import Source

__all__ = ["KeptForward"]

# Blocks that only give names: what stands in them means the same outside.
_NAMING = ("tf.name_scope", "tf.variable_scope")


class KeptForward:
    """Takes the statements of a forward pass as they are."""

    def __init__(self, source: Source, modes: Modes) -> None:
        self.source = source
        self.tree = source.tree
        self.modes = modes
        self.layers: list[tuple[str, str]] = []
        self.code: list[str] = []
        self.symbols: frozenset[str] = frozenset()

    def split(
        self, statements: Sequence[Statement]
    ) -> tuple[list[Statement], list[Statement]]:
        """The statements of the forward pass, and those behind it."""
        end = next(
            (i for i, s in enumerate(statements) if _returns(s)), len(statements)
        )
        makers = [
            i for i, s in enumerate(statements[:end]) if makes_variables(self.tree, s)
        ]
        if not makers:
            raise self.source.stop(
                self.source.defined, "it is not seen where variables are made"
            )
        last = makers[-1]
        for statement in statements[end:]:
            if makes_variables(self.tree, statement):
                raise self.source.stop(
                    statement, "variables are made after the first spec"
                )
        until = list(statements[: last + 1])
        # Heads have no part in the forward pass, wherever they are made.
        heads = [s for s in until if self._makes_head(s)]
        forward = [s for s in until if s not in heads]
        self.symbols = check_kept(self.source, forward)
        return forward, [*heads, *self._plain(statements[last + 1 :])]

    def _makes_head(self, statement: Statement) -> bool:
        small = only_small(statement)
        value = small.value if isinstance(small, cst.Assign) else None
        return value is not None and head_call(self.tree, value) is value

    def _plain(self, statements: Sequence[Statement]) -> Iterator[Statement]:
        """The statements, without the name scopes around them."""
        for statement in statements:
            if (
                isinstance(statement, cst.With)
                and isinstance(statement.body, cst.IndentedBlock)
                and all(self._names(item) for item in statement.items)
            ):
                yield from self._plain(statements_of(statement.body))
            else:
                yield statement

    def _names(self, item: cst.WithItem) -> bool:
        call = item.item
        return (
            isinstance(call, cst.Call)
            and item.asname is None
            and self.tree.symbol(call.func) in _NAMING
        )

    def lift(self, statement: Statement) -> None:
        """Take one statement; only tests of the mode are put in other words."""
        changed = statement.visit(_Training(self.modes))
        assert isinstance(changed, cst.SimpleStatementLine | cst.BaseCompoundStatement)
        code = self.source.code(changed)
        if code.strip() == "training = training":
            return
        if "labels" in names_in(code):
            raise self.source.stop(statement, "the forward pass reads the labels")
        self.code.append(code)

    @staticmethod
    def bound(statements: Sequence[Statement]) -> list[str]:
        """Names that the statements bind at any depth, in order."""
        found: list[str] = []
        for statement in statements:
            for node in _own(statement):
                if isinstance(node, cst.Assign):
                    for target in node.targets:
                        found += _targets(target.target)
                elif isinstance(node, (cst.AugAssign, cst.AnnAssign, cst.For)):
                    found += _targets(node.target)
                elif isinstance(node, cst.AsName):
                    found += _targets(node.name)
        return found


class _Training(cst.CSTTransformer):
    """``mode == TRAIN`` becomes ``training``, what Keras calls it."""

    def __init__(self, modes: Modes) -> None:
        self.modes = modes

    def leave_Comparison(
        self, original_node: cst.Comparison, updated_node: cst.Comparison
    ) -> cst.BaseExpression:
        verdict = [self.modes.test(original_node, mode) for mode in MODES]
        return cst.Name("training") if verdict == [True, False, False] else updated_node


def _own(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The node and what is below it, without the insides of functions."""
    yield node
    if isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
        return
    for child in children(node):
        yield from _own(child)


def _targets(node: cst.CSTNode) -> list[str]:
    """Names that an assignment to this target binds."""
    if isinstance(node, cst.Name):
        return [node.value]
    if isinstance(node, (cst.Tuple, cst.List)):
        return [name for element in node.elements for name in _targets(element.value)]
    return []


def _returns(statement: Statement) -> bool:
    return any(isinstance(node, cst.Return) for node in _own(statement))
