"""A RunConfig that more than one Estimator's making reads, said where it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import libcst as cst

from ...project.parsing import parse
from ...symbols.scopes import Binding, BindingKind
from ..code.tree import Statement, Tree, only_small, statements_of, walk
from ..estimator.config import RUN_CONFIGS

__all__ = ["with_attribute_seen", "with_config_seen"]

_READ = (
    "keep_checkpoint_max",
    "log_step_count_steps",
    "model_dir",
    "save_checkpoints_secs",
    "save_checkpoints_steps",
    "save_summary_steps",
    "tf_random_seed",
)
_PLAIN = (
    cst.Name,
    cst.Attribute,
    cst.Dot,
    cst.Integer,
    cst.Float,
    cst.SimpleString,
    cst.Subscript,
    cst.SubscriptElement,
    cst.Index,
    cst.BinaryOperation,
    cst.BaseBinaryOp,
    cst.Call,
    cst.Arg,
    cst.Comma,
    cst.AssignEqual,
)


def with_config_seen(tree: Tree, node: cst.BaseExpression) -> cst.Module | None:
    """The module with a RunConfig's fields in the place of reads of them, or None.

    A RunConfig that several Estimators are given is made for each.
    """
    if not isinstance(node, cst.Name):
        return None
    bindings = tree.resolver.bindings(node)
    if not bindings or any(
        b.kind is not BindingKind.ASSIGN or b.value is None for b in bindings
    ):
        return None
    if len(bindings) > 1:
        return _merged(tree, bindings)
    (binding,) = bindings
    made = binding.value
    if not isinstance(made, cst.Call) or tree.symbol(made.func) not in RUN_CONFIGS:
        return None
    given = _given(made)
    uses = tree.uses(binding)
    if given is None or len(uses) < 2:
        return None
    changes: dict[cst.CSTNode, cst.BaseExpression] = {}
    for use in uses:
        parent = tree.parent(use)
        if isinstance(parent, cst.Attribute) and parent.value is use:
            value = given.get(parent.attr.value)
            if parent.attr.value not in _READ or value is None:
                return None
            if not _is_plain(tree, value):
                return None
            changes[parent] = value
    if changes:
        return _changed(tree, changes, ())
    if not all(_is_plain(tree, value) for value in given.values()):
        return None
    if not all(_is_config(tree, use) for use in uses):
        return None
    statement = tree.statement(made)
    if not isinstance(only_small(statement), cst.Assign):
        return None
    return _changed(tree, dict.fromkeys(uses, made), (statement,))


def with_attribute_seen(tree: Tree, node: cst.BaseExpression) -> cst.Module | None:
    """``self.config = RunConfig(...)`` that only this Estimator reads, in its place."""
    if not isinstance(node, cst.Attribute) or not isinstance(node.value, cst.Name):
        return None
    if node.value.value != "self":
        return None
    same = [
        other
        for other in walk(tree.module)
        if isinstance(other, cst.Attribute) and other.attr.value == node.attr.value
    ]
    if len(same) != 2 or node not in same:
        return None
    (target,) = (other for other in same if other is not node)
    parent = tree.parent(target)
    assign = None if parent is None else tree.parent(parent)
    if not isinstance(parent, cst.AssignTarget) or not isinstance(assign, cst.Assign):
        return None
    if len(assign.targets) != 1 or not isinstance(assign.value, cst.Call):
        return None
    statement = tree.statement(assign)
    body = tree.body(statement)
    here = tree.statement(node)
    if body is None or tree.body(here) is not body:
        return None
    given = _given(assign.value)
    if tree.symbol(assign.value.func) not in RUN_CONFIGS or given is None:
        return None
    inside = statements_of(body)
    if inside.index(statement) > inside.index(here):
        return None
    if not all(_is_plain(tree, value) for value in given.values()):
        return None
    return _changed(tree, {node: assign.value}, (statement,))


def _is_config(tree: Tree, use: cst.Name) -> bool:
    argument = tree.parent(use)
    return (
        isinstance(argument, cst.Arg)
        and argument.keyword is not None
        and argument.keyword.value == "config"
    )


def _given(call: cst.Call) -> dict[str, cst.BaseExpression] | None:
    found = {}
    for argument in call.args:
        if argument.star or argument.keyword is None:
            return None
        found[argument.keyword.value] = argument.value
    return found


def _is_plain(tree: Tree, value: cst.BaseExpression) -> bool:
    """The expression gives the same wherever the program reads it."""
    for node in walk(value):
        if isinstance(node, cst.Call):
            if tree.resolver.qualified(node.func) != "os.path.join":
                return False
        elif isinstance(node, cst.Name) and node in tree.resolver.scopes.loads:
            for binding in tree.resolver.bindings(node):
                if len(binding.scope.bindings[binding.name]) != 1:
                    return False
        elif isinstance(node, cst.BaseExpression) and not isinstance(node, _PLAIN):
            return False
    return True


def _merged(tree: Tree, bindings: Sequence[Binding]) -> cst.Module | None:
    """``config = RunConfig(...)`` and ``config = config.replace(...)`` as one."""
    name = bindings[0].name
    if len(bindings[0].scope.bindings[name]) != len(bindings):
        return None
    statements: list[Statement] = []
    arguments: dict[str, cst.Arg] = {}
    first: cst.Call | None = None
    for binding in sorted(bindings, key=lambda b: b.order):
        call = binding.value
        if not isinstance(call, cst.Call):
            return None
        statement = tree.statement(call)
        small = only_small(statement)
        if not isinstance(small, cst.Assign) or small.value is not call:
            return None
        statements.append(statement)
        given = _given(call)
        if given is None or not all(_is_plain(tree, v) for v in given.values()):
            return None
        if first is None:
            if tree.symbol(call.func) not in RUN_CONFIGS:
                return None
            first = call
        elif (
            not isinstance(call.func, cst.Attribute)
            or call.func.attr.value != "replace"
            or not isinstance(call.func.value, cst.Name)
            or call.func.value.value != name
        ):
            return None
        for argument in call.args:
            assert argument.keyword is not None
            arguments[argument.keyword.value] = argument
    body = tree.body(statements[0])
    if body is None or any(tree.body(s) is not body for s in statements):
        return None
    inside = statements_of(body)
    between = inside[inside.index(statements[0]) : inside.index(statements[-1])]
    for statement in between:
        if statement not in statements and any(
            isinstance(n, cst.Name) and n.value == name for n in walk(statement)
        ):
            return None
    assert first is not None
    args = [a.with_changes(comma=cst.MaybeSentinel.DEFAULT) for a in arguments.values()]
    whole = first.with_changes(
        args=args, whitespace_before_args=cst.SimpleWhitespace("")
    )
    last = only_small(statements[-1])
    assert isinstance(last, cst.Assign)
    return _changed(tree, {last.value: whole}, statements[:-1])


def _changed(
    tree: Tree,
    changes: Mapping[Any, cst.BaseExpression],
    gone: Sequence[Statement],
) -> cst.Module:
    above: dict[cst.CSTNode, list[cst.EmptyLine]] = {}
    for statement in gone:
        # What stood above a statement that goes stands above what follows.
        body = tree.body(statement)
        inside = [] if body is None else statements_of(body)
        for following in inside[inside.index(statement) + 1 :]:
            if following not in gone:
                above.setdefault(following, []).extend(statement.leading_lines)
                break
    module = tree.module.visit(_Edit(dict(changes), gone, above))
    assert isinstance(module, cst.Module)
    return parse(module.code)


class _Edit(cst.CSTTransformer):
    def __init__(
        self,
        changes: dict[cst.CSTNode, cst.BaseExpression],
        gone: Sequence[cst.CSTNode],
        above: dict[cst.CSTNode, list[cst.EmptyLine]],
    ) -> None:
        self.changes = changes
        self.gone = gone
        self.above = above

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        if original_node in self.gone:
            return cst.RemoveFromParent()
        if original_node in self.changes:
            return self.changes[original_node].deep_clone()  # type: ignore[return-value]
        if original_node in self.above:
            own = updated_node.leading_lines  # type: ignore[attr-defined]
            lines = [*self.above[original_node], *own]
            return updated_node.with_changes(leading_lines=lines)
        return super().on_leave(original_node, updated_node)
