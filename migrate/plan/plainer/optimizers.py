"""An optimizer that is made and used at once, said with a name.

Where its rate is computed from the step, the rate becomes a schedule of its own, for
which the optimizer must stand on a line of its own.
"""

from __future__ import annotations

import libcst as cst

from ..code.tree import Tree, only_small, walk
from ..keras.program import OPTIMIZERS
from ..optimizers.schedules import GLOBAL_STEPS, is_decay

__all__ = ["with_named_optimizer"]

_USES = ("apply_gradients", "compute_gradients", "minimize")
_DEPTH = 12


def with_named_optimizer(tree: Tree, model_fn: cst.FunctionDef) -> cst.Module | None:
    """The module with the optimizer on a line of its own, or None where it has one."""
    for node in walk(model_fn.body):
        if (
            not isinstance(node, cst.Call)
            or not isinstance(node.func, cst.Attribute)
            or node.func.attr.value not in _USES
        ):
            continue
        made = node.func.value
        if (
            not isinstance(made, cst.Call)
            or tree.symbol(made.func) not in OPTIMIZERS
            or tree.function(node) is not model_fn
            or not any(_follows_step(tree, argument.value) for argument in made.args)
        ):
            continue
        statement = tree.statement(node)
        if only_small(statement) is None:
            continue
        taken = {n.value for n in walk(model_fn) if isinstance(n, cst.Name)}
        name = "optimizer"
        while name in taken:
            name += "_"
        module = tree.module.visit(_Named(statement, made, name))
        assert isinstance(module, cst.Module)
        return module
    return None


def _follows_step(tree: Tree, node: cst.BaseExpression, depth: int = 0) -> bool:
    """The value is computed from the global step, by more than a decay."""
    if depth > _DEPTH:
        return False
    if isinstance(node, cst.Call) and is_decay(tree.symbol(node.func)):
        return False
    for child in walk(node):
        if isinstance(child, cst.Call) and tree.symbol(child.func) in GLOBAL_STEPS:
            return True
        if isinstance(child, cst.Name) and child in tree.resolver.scopes.loads:
            for binding in tree.resolver.bindings(child):
                value = binding.value
                if value is not None and _follows_step(tree, value, depth + 1):
                    return True
    return False


class _Named(cst.CSTTransformer):
    def __init__(self, statement: cst.CSTNode, made: cst.Call, name: str) -> None:
        self.statement = statement
        self.made = made
        self.name = name

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        if original_node is self.made:
            return cst.Name(self.name)  # type: ignore[return-value]
        if original_node is self.statement:
            assert isinstance(updated_node, cst.SimpleStatementLine)
            target = cst.AssignTarget(cst.Name(self.name))
            value = self.made.with_changes(lpar=[], rpar=[])
            line = cst.SimpleStatementLine(
                [cst.Assign([target], value)],
                leading_lines=updated_node.leading_lines,
            )
            rest = updated_node.with_changes(leading_lines=[])
            made = [line, rest]
            return cst.FlattenSentinel(made)  # type: ignore[arg-type]
        return super().on_leave(original_node, updated_node)
