"""The forward pass before the branches of the modes, where each branch makes it.

``if mode == TRAIN: logits = model(x, training=True) ... elif mode == EVAL: logits =
model(x, training=False)`` says three times what one call with the right flag says.
"""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from ..code.statements import assigned, binds, loads
from ..code.tree import Statement, Tree, only_small, statements_of, walk
from ..layers.layer_search import makes_layers
from ..model_fn.modes import MODES, Modes
from ..model_fn.source import Source

__all__ = ["with_one_forward_pass"]

_FLAGS = ("training", "is_training")


@dataclass
class _Branch:
    """What one branch does, up to its forward pass."""

    modes: set[str]
    block: cst.IndentedBlock
    statement: cst.SimpleStatementLine
    call: cst.Call


def with_one_forward_pass(tree: Tree, model_fn: cst.FunctionDef) -> cst.Module | None:
    """The module with the call before the branches, or None where it stays."""
    if not isinstance(model_fn.body, cst.IndentedBlock):
        return None
    return _Hoister(tree, model_fn).hoisted()


class _Hoister:
    def __init__(self, tree: Tree, model_fn: cst.FunctionDef) -> None:
        self.tree = tree
        self.source = Source(tree, model_fn)
        self.modes = Modes(self.source)
        self.body = model_fn.body
        assert isinstance(self.body, cst.IndentedBlock)
        self.statements = statements_of(self.body)

    def hoisted(self) -> cst.Module | None:
        """All branches that make layers make the same ones."""
        found: list[_Branch] = []
        first: Statement | None = None
        for statement in self.statements:
            if not makes_layers(self.source, statement):
                continue
            if not isinstance(statement, cst.If):
                if first is not None or _returns(statement):
                    return None
                continue
            inside = self._branches(statement, set(MODES))
            if inside is None:
                return None
            first = first or statement
            found += inside
        if first is None or len(found) < 2:
            return None
        one = self._one(found)
        if one is None or not self._may_move(first, found):
            return None
        gone = {branch.statement for branch in found}
        module = self.tree.module.visit(_Moves(first, one, gone))
        assert isinstance(module, cst.Module)
        return module

    def _branches(self, statement: cst.If, modes: set[str]) -> list[_Branch] | None:
        """The forward passes of a branch on the mode, or None for another one."""
        verdicts = {mode: self.modes.test(statement.test, mode) for mode in modes}
        if None in verdicts.values():
            return None
        found = []
        taken = {mode for mode, verdict in verdicts.items() if verdict}
        blocks: list[tuple[cst.BaseSuite, set[str]]] = [(statement.body, taken)]
        if isinstance(statement.orelse, cst.If):
            more = self._branches(statement.orelse, modes - taken)
            if more is None:
                return None
            found += more
        elif statement.orelse is not None:
            blocks.append((statement.orelse.body, modes - taken))
        for block, inside in blocks:
            if not makes_layers(self.source, block):
                continue
            branch = self._branch(block, inside)
            if branch is None:
                return None
            found.append(branch)
        return found

    def _branch(self, block: cst.BaseSuite, modes: set[str]) -> _Branch | None:
        """The one forward pass of a block, which nothing before it changes."""
        if not isinstance(block, cst.IndentedBlock):
            return None
        bound: set[str] = set()
        found: _Branch | None = None
        for statement in statements_of(block):
            if makes_layers(self.source, statement):
                small = only_small(statement)
                if (
                    found is not None
                    or not isinstance(statement, cst.SimpleStatementLine)
                    or not isinstance(small, cst.Assign)
                    or not isinstance(small.value, cst.Call)
                    or loads(self.tree, statement) & bound
                    or len(assigned(statement)) != 1
                ):
                    return None
                found = _Branch(modes, block, statement, small.value)
            bound |= binds(statement)
        return found

    def _may_move(self, first: Statement, found: list[_Branch]) -> bool:
        """Nothing between the first branch and the last call changes what it reads."""
        wanted = set().union(*(loads(self.tree, b.statement) for b in found))
        made = set(assigned(found[0].statement))
        begin = self.statements.index(first)
        before = set().union(*(loads(self.tree, s) for s in self.statements[:begin]))
        if made & before:
            return False
        inside = {b.block for b in found}
        for statement in self.statements[begin:]:
            own = {n for s in self._outside(statement, inside) for n in binds(s)}
            if own & wanted:
                return False
        return True

    def _outside(
        self, statement: Statement, inside: set[cst.IndentedBlock]
    ) -> list[Statement]:
        """Statements of no branch, which may run before a later branch."""
        if isinstance(statement, cst.If) and any(n in inside for n in walk(statement)):
            return []
        return [statement]

    def _one(self, found: list[_Branch]) -> cst.SimpleStatementLine | None:
        """The call for all modes, with the flag that tells them apart."""
        first = found[0]
        names = {tuple(assigned(b.statement)) for b in found}
        if len(names) != 1 or any(
            len(b.call.args) != len(first.call.args)
            or self.tree.code(b.call.func) != self.tree.code(first.call.func)
            for b in found
        ):
            return None
        args = []
        for place, argument in enumerate(first.call.args):
            given = [b.call.args[place] for b in found]
            keywords = {a.keyword.value if a.keyword else None for a in given}
            codes = {self.tree.code(a.value) for a in given}
            if len(keywords) != 1 or any(a.star for a in given):
                return None
            if len(codes) == 1:
                args.append(argument)
                continue
            flag = self._flag(found, place)
            if flag is None:
                return None
            args.append(argument.with_changes(value=flag))
        call = first.call.with_changes(args=args)
        small = only_small(first.statement)
        assert isinstance(small, cst.Assign)
        line = first.statement.with_changes(body=[small.with_changes(value=call)])
        assert isinstance(line, cst.SimpleStatementLine)
        return line

    def _flag(self, found: list[_Branch], place: int) -> cst.BaseExpression | None:
        """``mode == ModeKeys.TRAIN`` for True in training and False elsewhere."""
        for branch in found:
            code = self.tree.code(branch.call.args[place].value)
            if code != str(branch.modes == {"TRAIN"}):
                return None
        for node in walk(self.source.defined.body):
            symbol = self.tree.symbol(node) if isinstance(node, cst.Attribute) else None
            if symbol is not None and ".ModeKeys." in symbol:
                assert isinstance(node, cst.Attribute)
                wanted = node.with_changes(attr=cst.Name("TRAIN"))
                equal = cst.ComparisonTarget(cst.Equal(), wanted)
                return cst.Comparison(cst.Name("mode"), [equal])
        return None


class _Moves(cst.CSTTransformer):
    """Puts a statement before another, and takes it out of the branches."""

    def __init__(
        self,
        first: Statement,
        one: cst.SimpleStatementLine,
        gone: set[cst.SimpleStatementLine],
    ) -> None:
        self.first = first
        self.one = one
        self.gone = gone

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        if original_node in self.gone:
            return cst.RemoveFromParent()
        if original_node is self.first:
            made = [self.one.deep_clone(), updated_node]
            return cst.FlattenSentinel(made)  # type: ignore[arg-type]
        if isinstance(updated_node, cst.IndentedBlock) and not updated_node.body:
            line = cst.SimpleStatementLine([cst.Pass()])
            return updated_node.with_changes(body=[line])
        return super().on_leave(original_node, updated_node)


def _returns(statement: Statement) -> bool:
    return any(isinstance(n, cst.Return) for n in walk(statement))
