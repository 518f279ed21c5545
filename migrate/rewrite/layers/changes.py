"""Changes to the statements that a call keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from ...code.tree import Statement
from ...model.layer_functions import at_call
from .taken import let_stay

if TYPE_CHECKING:
    from .bodies import Body

# Those in whose elements layers may be made, one after the other.
Comprehension = cst.ListComp | cst.GeneratorExp | cst.DictComp


class Mover(cst.CSTTransformer):
    """Puts calls of layers in the place of calls that make them."""

    def __init__(self, body: Body) -> None:
        self.body = body

    def moved(self, node: cst.CSTNode) -> cst.CSTNode:
        found = node.visit(self)
        assert isinstance(found, cst.CSTNode)
        return found

    def _is_replaced(self, node: cst.CSTNode) -> bool:
        notes = self.body.notes
        return node in notes.made or notes.is_helped(node)

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, Comprehension):
            # It is moved as a whole.
            return False
        inner = isinstance(node, (cst.FunctionDef, cst.Lambda, cst.BaseComp))
        if inner and self.body.notes.makes(node):
            # What it only calls may keep its layers.
            let_stay(self.body.notes, node)
            raise self.body.stop(node, "layers in a function inside of this one")
        # What is not above a change stays the node that it was.
        return self.body.notes.makes(node) and not self._is_replaced(node)

    def on_leave(self, original: cst.CSTNodeT, updated: cst.CSTNodeT) -> cst.CSTNodeT:
        notes = self.body.notes
        if isinstance(original, Comprehension) and notes.makes(original):
            return self.body.comprehension(original)  # type: ignore[return-value]
        if isinstance(original, cst.Call):
            if original in notes.made:
                return self.body.layer(original)  # type: ignore[return-value]
            if notes.is_helped(original):
                (function,) = notes.helpers[original]
                return self.body.helped(original, function)  # type: ignore[return-value]
            if original.func in notes.made and isinstance(updated, cst.Call):
                return self._told(original, updated)  # type: ignore[return-value]
        return updated

    def _told(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """A call of a layer that nobody told to train."""
        given = {one.keyword.value for one in original.args if one.keyword is not None}
        symbol = self.body.notes.made[original.func].symbol
        told = len(original.args) - len(given) > 1 or "training" in given
        if told or not at_call(symbol):
            return updated
        flag = cst.parse_expression("f(training=False)")
        assert isinstance(flag, cst.Call)
        args = [
            one.with_changes(comma=cst.MaybeSentinel.DEFAULT) for one in updated.args
        ]
        return updated.with_changes(args=[*args, *flag.args])


class Dropped(cst.CSTTransformer):
    def __init__(self, gone: set[int]) -> None:
        self.gone = gone

    def on_visit(self, node: cst.CSTNode) -> bool:
        return isinstance(
            node, (cst.IndentedBlock, cst.BaseCompoundStatement, cst.Else)
        )

    def visited(self, statement: Statement) -> Statement:
        return statement.visit(self)  # type: ignore[return-value]

    def leave_IndentedBlock(
        self, original_node: cst.IndentedBlock, updated_node: cst.IndentedBlock
    ) -> cst.IndentedBlock:
        kept = [
            new
            for old, new in zip(original_node.body, updated_node.body, strict=True)
            if id(old) not in self.gone
        ]
        kept = kept or [cst.SimpleStatementLine([cst.Pass()])]
        return updated_node.with_changes(body=kept)
