"""Metrics that a loop over constants makes are said one by one."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TypeVar, cast

import libcst as cst

from ...code.edits import changed
from ...code.tree import Statement, Tree, only_small, statements_of, walk
from ...names.ast_nodes import expression_of
from ...names.ast_nodes import walk as walk_ast
from ...project.facts import ParsedModule, ProjectFacts

_MOST = 24
_Node = TypeVar("_Node", cst.BaseStatement, cst.BaseExpression)
_CONSTANTS = (cst.SimpleString, cst.Integer, cst.Float)


def with_metrics_unrolled(
    parsed: ParsedModule,
    facts: ProjectFacts,
    is_model_fn: Callable[[cst.CSTNode], bool],
) -> ParsedModule:
    """The file whose model functions make no metrics in loops over constants.

    A Task has a list of metrics, and a line that feeds each.
    """
    tree = Tree(parsed.module, parsed.resolver)
    change = _Unrolled(tree)
    for defined in parsed.nodes:
        if isinstance(defined, cst.FunctionDef) and is_model_fn(defined):
            for node in walk(defined.body):
                change.see(node)
    if not change.found:
        return parsed
    return changed(parsed, facts, change.found)


class _Unrolled:
    """Finds loops, and the rounds that stand for each."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.found: dict[cst.CSTNode, cst.Dict | list[cst.BaseStatement]] = {}

    def see(self, node: cst.CSTNode) -> None:
        """Notes a loop, or a dict made by one, whose rounds are known."""
        if isinstance(node, cst.For) and self._makes_metrics(node.body):
            rounds = list(self._rounds(node.target, node.iter))
            body = node.body
            if (
                rounds
                and node.orelse is None
                and not self._is_read_behind(node)
                and isinstance(body, cst.IndentedBlock)
                and all(map(self._sets_entry, statements_of(body)))
            ):
                self.found[node] = [
                    _round(self.tree, values, one)
                    for values in rounds
                    for one in statements_of(body)
                ]
        elif isinstance(node, cst.DictComp) and self._makes_metrics(node):
            loop = node.for_in
            rounds = list(self._rounds(loop.target, loop.iter))
            if rounds and not loop.ifs and loop.inner_for_in is None:
                self.found[node] = cst.Dict(
                    [
                        cst.DictElement(
                            _folded(_round(self.tree, values, node.key)),
                            _round(self.tree, values, node.value),
                        )
                        for values in rounds
                    ]
                )

    def _is_read_behind(self, loop: cst.For) -> bool:
        """What the last round leaves is read where no loop gives it anew."""
        loops = (cst.For, cst.BaseComp)
        names = {one.value for one in walk(loop.target, cst.Name)}
        function = self.tree.function(loop)
        return any(
            isinstance(one, cst.Name)
            and one.value in names
            and one in self.tree.resolver.scopes.loads
            and not any(isinstance(above, loops) for above in self.tree.ancestors(one))
            for one in walk(function or loop)
        )

    def _makes_metrics(self, node: cst.CSTNode) -> bool:
        return any(
            isinstance(one, cst.Call)
            and (self.tree.symbol(one.func) or "").startswith("tf.metrics.")
            for one in walk(node)
        )

    def _sets_entry(self, statement: Statement) -> bool:
        """``metrics['mae/' + name] = ...``, or a summary"""
        small = only_small(statement)
        call = small.value if isinstance(small, cst.Expr) else None
        if isinstance(call, cst.Call):
            return (self.tree.symbol(call.func) or "").startswith("tf.summary.")
        return (
            isinstance(small, cst.Assign)
            and len(small.targets) == 1
            and isinstance(small.targets[0].target, cst.Subscript)
        )

    def _rounds(
        self, target: cst.BaseExpression, iterated: cst.BaseExpression
    ) -> Iterator[dict[str, cst.BaseExpression]]:
        """What the names of a loop are, in each round."""
        names = _parts(target)
        if not names or not all(isinstance(one, cst.Name) for one in names):
            return
        sequence = self._display(iterated)
        elements = sequence.elements if sequence is not None else ()
        found = [
            _parts(one.value)
            for one in elements
            if not isinstance(one, cst.StarredElement)
        ]
        if len(found) != len(elements) or len(found) > _MOST:
            return
        if not all(
            len(one) == len(names) and all(isinstance(v, _CONSTANTS) for v in one)
            for one in found
        ):
            return
        for one in found:
            yield {
                name.value: value
                for name, value in zip(names, one, strict=True)
                if isinstance(name, cst.Name)
            }

    def _display(self, node: cst.BaseExpression) -> cst.Tuple | cst.List | None:
        """The sequence that is gone through, where it stands in the file."""
        if isinstance(node, cst.Name):
            bound = self.tree.resolver.bindings(node)
            value = bound[0].value if len(bound) == 1 else None
            node = value if isinstance(value, cst.BaseExpression) else node
        return node if isinstance(node, (cst.Tuple, cst.List)) else None


def _round(tree: Tree, values: dict[str, cst.BaseExpression], node: _Node) -> _Node:
    """A statement or an expression of one round."""
    return cast(_Node, node.visit(_Round(tree, values)))


class _Round(cst.CSTTransformer):
    """One round of a loop: constants in the places of its names."""

    def __init__(self, tree: Tree, values: dict[str, cst.BaseExpression]) -> None:
        self.tree = tree
        self.values = values

    def leave_Name(
        self, original_node: cst.Name, updated_node: cst.Name
    ) -> cst.BaseExpression:
        if original_node not in self.tree.resolver.scopes.loads:
            return updated_node
        return self.values.get(original_node.value, updated_node)

    def leave_Index(
        self, original_node: cst.Index, updated_node: cst.Index
    ) -> cst.Index:
        return updated_node.with_changes(value=_folded(updated_node.value))


def _parts(node: cst.BaseExpression) -> list[cst.BaseExpression]:
    if isinstance(node, (cst.Tuple, cst.List)):
        return [one.value for one in node.elements]
    return [node]


def _folded(node: cst.BaseExpression) -> cst.BaseExpression:
    """A string that is put together of constants, as one."""
    code = cst.Module([]).code_for_node(node)
    parts = [*walk_ast(expression_of(code))]
    plain = (
        *(ast.Constant, ast.BinOp, ast.Add, ast.Mod, ast.Tuple),
        *(ast.JoinedStr, ast.FormattedValue, ast.Load),
    )
    if isinstance(node, _CONSTANTS) or not all(isinstance(one, plain) for one in parts):
        return node
    value = eval(code, {"__builtins__": {}})
    return cst.parse_expression(repr(value)) if isinstance(value, str) else node
