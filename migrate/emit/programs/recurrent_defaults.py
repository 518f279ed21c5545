"""Writes out what TF1's recurrent Keras layers did by default.

``tf.keras.layers.LSTM`` and ``GRU`` of TF1 had a hard sigmoid for their gates, and
GRU reset its state before the product. TF2 changed both: the same line of source
makes another network there, unless the old defaults are written out.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ...plan.code.tree import Statement, Tree, walk
from ...plan.sites import Blocked
from ..module.edits import Edits
from ..module.layout import WIDTH, fit

__all__ = ["spell_recurrent_defaults"]

_GATES = "recurrent_activation"
# Parameters that come before the gates' activation.
_BEFORE = 2
_HOMES = ("tf.keras.layers.",)
_LAYERS = ("LSTM", "GRU", "LSTMCell", "GRUCell")
_RESETS = ("GRU", "GRUCell")
# Keras 3 has changed the function of that name, too.
_FUNCTIONS = {
    "tf_keras": '"hard_sigmoid"',
    "keras3": "lambda x: {tf}.clip_by_value(0.2 * x + 0.5, 0.0, 1.0)",
}


def spell_recurrent_defaults(tree: Tree, keras: str, tf: str) -> cst.Module:
    """The module of a TF1 program with its recurrent layers' defaults written out."""
    edits = Edits()
    called: set[cst.CSTNode] = set()
    for node in tree.nodes:
        if isinstance(node, cst.Call) and _is_recurrent(tree, node.func):
            called.update(walk(node.func))
            changed = _spelled(tree, node, _FUNCTIONS[keras].format(tf=tf))
            if changed is not node:
                statement = tree.statement(node)
                added = changed.args[len(node.args) :]
                edits.nodes[node] = _Arguments(added, _aligned(tree, node, added))
                edits.nodes[statement] = _Fitted(tree, statement)
    for use in tree.resolver.scopes.uses:
        node = use.node
        if node not in called and _is_recurrent(tree, node):
            shown = tree.code(node)
            reason = f"`{shown}` is used without being called: its defaults changed"
            raise Blocked("TFM103", tree.line(node), reason)
    return edits.apply(tree.module) if edits.nodes else tree.module


def _is_recurrent(tree: Tree, node: cst.BaseExpression) -> bool:
    symbol = tree.symbol(node) or ""
    return symbol.startswith(_HOMES) and symbol.rpartition(".")[2] in _LAYERS


def _spelled(tree: Tree, call: cst.Call, function: str) -> cst.Call:
    name = (tree.symbol(call.func) or "").rpartition(".")[2]
    if any(argument.star for argument in call.args):
        reason = f"`{name}` with star arguments: TF1's defaults cannot be written"
        raise Blocked("TFM103", tree.line(call), reason)
    given = [a.keyword.value for a in call.args if a.keyword is not None]
    positional = len(call.args) - len(given)
    added = []
    if _GATES not in given and positional <= _BEFORE:
        added.append((_GATES, function))
    if name in _RESETS and "reset_after" not in given:
        added.append(("reset_after", "False"))
    if not added:
        return call
    nothing = cst.SimpleWhitespace("")
    equal = cst.AssignEqual(whitespace_before=nothing, whitespace_after=nothing)
    new = [
        cst.Arg(cst.parse_expression(code), keyword=cst.Name(keyword), equal=equal)
        for keyword, code in added
    ]
    return call.with_changes(args=[*call.args, *new])


class _Arguments:
    """Adds arguments to a call, whatever was edited inside of it.

    With a column they stand on a line of their own.
    """

    def __init__(self, added: Sequence[cst.Arg], column: int | None) -> None:
        self.added = list(added)
        self.column = column

    def __call__(self, node: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(node, cst.Call)
        args = list(node.args)
        if self.column is not None and args:
            line = cst.ParenthesizedWhitespace(
                indent=True, last_line=cst.SimpleWhitespace(" " * self.column)
            )
            args[-1] = args[-1].with_changes(comma=cst.Comma(whitespace_after=line))
        return node.with_changes(args=[*args, *self.added])


def _aligned(tree: Tree, call: cst.Call, added: Sequence[cst.Arg]) -> int | None:
    """Below the first argument, where one line of several would be too long."""
    statement = tree.statement(call)
    if tree.line(statement) == tree.end_line(statement) or not call.args:
        return None
    line = tree.module.code.splitlines()[tree.end_line(call) - 1]
    more = sum(len(tree.module.code_for_node(one)) + 2 for one in added)
    if len(line) + more <= WIDTH:
        return None
    block = tree.body(statement)
    depth = 0 if isinstance(block, cst.Module) else tree.column(statement) - 1
    return max(tree.column(call.args[0]) - 1 - depth, 0)


class _Fitted:
    """Breaks a line anew that has become too long."""

    def __init__(self, tree: Tree, statement: Statement) -> None:
        self.module = tree.module
        self.column = tree.column(statement) - 1
        self.long = _width(tree.module, statement, self.column) > WIDTH

    def __call__(self, node: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(node, cst.SimpleStatementLine)
        if self.long or _width(self.module, node, self.column) <= WIDTH:
            return node
        return fit(self.module, [node], self.column)[0]


def _width(module: cst.Module, node: cst.CSTNode, column: int) -> int:
    lines = module.code_for_node(node).strip("\n").splitlines()
    first = next((i for i, line in enumerate(lines) if not line.startswith("#")), 0)
    return max(
        len(line) + (column if i == first else 0) for i, line in enumerate(lines)
    )
