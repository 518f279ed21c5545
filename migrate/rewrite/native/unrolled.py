"""Metrics that a loop over constants makes are said one by one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TypeVar, cast

import libcst as cst

from ...code.edits import changed, in_parentheses
from ...code.names import fresh
from ...code.pure import is_pure
from ...code.tree import Statement, Tree, only_small, statements_of, walk
from ...names.ast_nodes import expression_of
from ...names.ast_nodes import walk as walk_ast
from ...project.facts import ParsedModule, ProjectFacts
from ..layers.model_functions import is_model_fn

_MOST = 24
_Node = TypeVar("_Node", cst.BaseStatement, cst.BaseExpression)
_CONSTANTS = (cst.SimpleString, cst.Integer, cst.Float)
# Expressions that need no parentheses, wherever they stand.
_CLOSED = (*_CONSTANTS, cst.Name, cst.Attribute, cst.Subscript, cst.Call)
Round = dict[str, cst.BaseExpression]


def with_metrics_unrolled(
    parsed: ParsedModule,
    facts: ProjectFacts,
) -> ParsedModule:
    """The file whose model functions make no metrics in loops over constants.

    A Task has a list of metrics, and a line that feeds each.
    """
    tree = Tree(parsed.module, parsed.resolver)
    change = _Unrolled(tree)
    for defined in parsed.each(cst.FunctionDef):
        if is_model_fn(defined):
            for node in walk(defined.body):
                change.see(node)
    if not change.found:
        return parsed
    return changed(parsed, facts, change.found)


class _Unrolled:
    """Finds loops, and the rounds that stand for each."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.taken = {one.value for one in tree.each(cst.Name)}
        self.found: dict[cst.CSTNode, cst.Dict | list[Statement]] = {}

    def see(self, node: cst.CSTNode) -> None:
        """Notes a loop, or a dict made by one, whose rounds are known."""
        if isinstance(node, cst.For) and (
            self._makes_metrics(node.body) or self._shown(node) is not None
        ):
            shown = self._shown(node) is not None
            rounds = list(
                self._items(node) if shown else self._rounds(node.target, node.iter)
            )
            body = (
                [*statements_of(node.body)]
                if isinstance(node.body, cst.IndentedBlock)
                else []
            )
            if (
                rounds
                and body
                and node.orelse is None
                and not self._is_read_behind(node)
                and all(self._sets_entry(n) or self._named(n, node) for n in body)
            ):
                self.found[node] = [
                    one for values in rounds for one in self._said(body, node, values)
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

    def _said(
        self, body: list[Statement], loop: cst.For, values: Round
    ) -> Iterator[Statement]:
        """The statements of one round: what it names stands where it is read.

        What cannot stand there has a name of this round.
        """
        constant = next(iter(values.values()))
        suffix = re.sub(r"\W+", "", self.tree.code(constant)) or "round"
        for one in body:
            small = only_small(one)
            names = self._named(one, loop)
            if not names or not isinstance(small, cst.Assign):
                yield cast(Statement, _round(self.tree, values, one))
                continue
            said = _round(self.tree, values, small.value)
            if len(names) == 1 and self._may_move(small.value):
                closed = isinstance(said, _CLOSED)
                values = {**values, names[0]: said if closed else in_parentheses(said)}
                continue
            own = [cst.Name(fresh(f"{name}_{suffix}", self.taken)) for name in names]
            values = {**values, **dict(zip(names, own, strict=True))}
            text = ", ".join(name.value for name in own)
            yield cst.parse_statement(f"{text} = {cst.Module([]).code_for_node(said)}")

    def _may_move(self, value: cst.BaseExpression) -> bool:
        calls = walk(value, cst.Call)
        return "random" not in self.tree.code(value) and all(
            is_pure(self.tree.symbol(one.func) or "") for one in calls
        )

    def _named(self, statement: Statement, loop: cst.For) -> list[str]:
        """The names of ``hit = tf.equal(labels, c)``, which only this round reads."""
        small = only_small(statement)
        if not isinstance(small, cst.Assign) or len(small.targets) != 1:
            return []
        targets = _parts(small.targets[0].target)
        inside = [*walk(loop.body, cst.Name)]
        for target in targets:
            if not isinstance(target, cst.Name):
                return []
            names = [one for one in inside if one.value == target.value]
            if (
                names[0] is not target
                or sum(one not in self.tree.resolver.scopes.loads for one in names) != 1
                or not set(names).issuperset(self.tree.loads(target.value))
                or {*names} & {*walk(small.value)}
            ):
                return []
        return [one.value for one in targets if isinstance(one, cst.Name)]

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

    def _shown(self, loop: cst.For) -> cst.Dict | None:
        """The dict of metrics in ``for name, op in metrics.items()``."""
        over = loop.iter
        if not isinstance(over, cst.Call) or not isinstance(over.func, cst.Attribute):
            return None
        held = over.func.value
        bound = self.tree.resolver.bindings(held) if isinstance(held, cst.Name) else ()
        made = bound[0].value if len(bound) == 1 else None
        if over.func.attr.value != "items" or not isinstance(made, cst.Dict):
            return None
        return made if self._makes_metrics(made) else None

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

    def _items(self, loop: cst.For) -> Iterator[Round]:
        """The names of a loop over metrics: a key, and the metric by this key."""
        made, names = self._shown(loop), _parts(loop.target)
        assert isinstance(loop.iter, cst.Call)
        assert isinstance(loop.iter.func, cst.Attribute)
        for one in made.elements if made is not None and len(names) == 2 else ():
            key = one.key if isinstance(one, cst.DictElement) else None
            if not isinstance(key, cst.SimpleString):
                return
            held = cst.Subscript(
                loop.iter.func.value, [cst.SubscriptElement(cst.Index(key))]
            )
            values = zip(names, (key, held), strict=True)
            yield {n.value: v for n, v in values if isinstance(n, cst.Name)}

    def _rounds(
        self, target: cst.BaseExpression, iterated: cst.BaseExpression
    ) -> Iterator[Round]:
        """What the names of a loop are, in each round."""
        names = _parts(target)
        if not names or not all(isinstance(one, cst.Name) for one in names):
            return
        found = self._elements(iterated)
        if len(found) > _MOST:
            return
        if not all(
            len(one) == len(names) and all(map(_is_fixed, one)) for one in found
        ):
            return
        for one in found:
            yield {
                name.value: value
                for name, value in zip(names, one, strict=True)
                if isinstance(name, cst.Name)
            }

    def _elements(self, node: cst.BaseExpression) -> list[list[cst.BaseExpression]]:
        """What is gone through, each with its parts; nothing where it is not seen."""
        node = self._source(node)
        if isinstance(node, (cst.Tuple, cst.List)):
            starred = any(isinstance(one, cst.StarredElement) for one in node.elements)
            return [] if starred else [_parts(one.value) for one in node.elements]
        if isinstance(node, cst.Call) and self.tree.code(node.func) == "zip":
            several = [self._elements(one.value) for one in node.args]
            return [
                [v for one in row for v in one] for row in zip(*several, strict=False)
            ]
        if isinstance(node, cst.Call) and not node.args:
            return self._entries(node.func)
        if not isinstance(node, cst.Call) or len(node.args) != 1:
            return []
        given = node.args[0].value
        if self.tree.code(node.func) == "range":
            count = self._source(given)
            numbers = range(int(count.value) if isinstance(count, cst.Integer) else 0)
            return [[cst.Integer(str(number))] for number in numbers]
        if self.tree.code(node.func) == "enumerate":
            found = enumerate(self._elements(given))
            return [[cst.Integer(str(n)), *parts] for n, parts in found]
        return []

    def _entries(self, node: cst.BaseExpression) -> list[list[cst.BaseExpression]]:
        """The items of a dict that is written out under a name."""
        if not isinstance(node, cst.Attribute) or node.attr.value != "items":
            return []
        made = self._source(node.value)
        elements = made.elements if isinstance(made, cst.Dict) else ()
        keys = [
            one.key
            for one in elements
            if isinstance(one, cst.DictElement)
            and isinstance(one.key, cst.SimpleString)
        ]
        if made is node.value or len(keys) != len(elements):
            return []
        return [
            [key, cst.Subscript(node.value, [cst.SubscriptElement(cst.Index(key))])]
            for key in keys
        ]

    def _source(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """What a name stands for that the file says once."""
        bound = self.tree.resolver.bindings(node) if isinstance(node, cst.Name) else ()
        value = bound[0].value if len(bound) == 1 else None
        return value if isinstance(value, cst.BaseExpression) else node


def _is_fixed(node: cst.BaseExpression) -> bool:
    """It is the same wherever it stands: a constant, a name, what that has."""
    if isinstance(node, (cst.Subscript, cst.Attribute)):
        node = node.value
    return isinstance(node, (*_CONSTANTS, cst.Name))


def _round(tree: Tree, values: Round, node: _Node) -> _Node:
    """A statement or an expression of one round."""
    return cast(_Node, node.visit(_Round(tree, values)))


class _Round(cst.CSTTransformer):
    """One round of a loop: constants in the places of its names."""

    def __init__(self, tree: Tree, values: Round) -> None:
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
    tree = expression_of(code)
    parts = [*walk_ast(tree)]
    # '{}/recall'.format(1)
    formats = isinstance(tree, ast.Call) and getattr(tree.func, "attr", "") == "format"
    plain = (
        *(ast.Constant, ast.BinOp, ast.Add, ast.Mod, ast.Tuple),
        *(ast.JoinedStr, ast.FormattedValue, ast.Load),
        *((ast.Call, ast.Attribute, ast.keyword) if formats else ()),
    )
    if isinstance(node, _CONSTANTS) or not all(isinstance(one, plain) for one in parts):
        return node
    value = eval(code, {"__builtins__": {}})
    return cst.parse_expression(repr(value)) if isinstance(value, str) else node
