"""Hooks: which of them can become plain callbacks of a step."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from ..code.arguments import is_none
from ..code.tree import Statement, Tree, only_small, walk
from ..program import Difference, HookPlan, StockHooks
from ..sites import Blocked
from .fetches import HookEdits, read_fetches
from .stock import read_stock_hook

__all__ = ["HOOK_BASES", "LIFECYCLE", "Hooks", "read_hooks"]

HOOK_BASES = ("tf.train.SessionRunHook", "tf.estimator.SessionRunHook")

# Method of SessionRunHook -> the parameters after self that stand for a session.
LIFECYCLE = {
    "begin": 0,
    "before_run": 1,
    "after_run": 2,
    "end": 1,
}


_GRAPH = (
    "tf.get_collection",
    "tf.get_default_graph",
    "tf.get_default_session",
    "tf.global_variables",
    "tf.summary.FileWriterCache.get",
    "tf.trainable_variables",
)


@dataclass
class Hooks:
    """The hooks of a call: callbacks, and what stock hooks ask of the loop.

    ``drop`` are the statements that made hooks which are no objects any more.
    """

    plans: tuple[HookPlan, ...] = ()
    classes: list[cst.ClassDef] = field(default_factory=list)
    stock: StockHooks = field(default_factory=StockHooks)
    drop: list[Statement] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)


def read_hooks(tree: Tree, node: cst.BaseExpression | None, line: int) -> Hooks:
    """The hooks given to a call."""
    found = Hooks()
    value = tree.value(node)
    if value is None or is_none(value):
        return found
    if not isinstance(value, (cst.List, cst.Tuple)):
        raise Blocked("TFM116", line, "hooks are not given as a plain list")
    if node is not tree.value(node):
        found.drop.append(_only_use(tree, node, "list of hooks"))
    for element in value.elements:
        if isinstance(element, cst.StarredElement):
            raise Blocked("TFM116", line, "hooks with a starred list")
        _read(tree, element.value, found)
    called = {method for plan in found.plans for method in plan.methods}
    if found.stock.log_end and called & {"before_run", "after_run"}:
        message = "LoggingTensorHook logged at the end too; the loop does not"
        found.differences.append(Difference("TFM136", line, message, True))
    return found


def _read(tree: Tree, node: cst.BaseExpression, found: Hooks) -> None:
    made = tree.value(node)
    line = tree.line(node)
    if isinstance(made, cst.Call):
        defined = tree.resolver.definition(made.func)
        if isinstance(defined, cst.ClassDef):
            plan = _user_hook(tree, node, defined)
            found.plans = (*found.plans, plan)
            if defined not in found.classes:
                found.classes.append(defined)
            return
        symbol = tree.symbol(made.func)
        stock = (
            None if symbol is None else read_stock_hook(tree, made, symbol, found.stock)
        )
        if stock is not None:
            found.stock, more, drop = stock
            found.drop += drop
            found.differences += more
            if node is not made:
                found.drop.append(_only_use(tree, node, "hook"))
            return
    symbol = tree.symbol(made.func) if isinstance(made, cst.Call) else None
    shown = symbol or tree.code(node)
    raise Blocked("TFM116", line, f"no loop equivalent yet for the hook `{shown}`")


def _only_use(tree: Tree, node: cst.BaseExpression | None, what: str) -> Statement:
    """The assignment of a name that nothing else reads."""
    binding = tree.assigned(node)
    assert binding is not None
    assert binding.value is not None
    line = tree.line(binding.value)
    if len(tree.uses(binding)) != 1:
        raise Blocked("TFM116", line, f"the {what} is used elsewhere too")
    statement = tree.statement(binding.value)
    small = only_small(statement)
    if not isinstance(small, cst.Assign) or small.value is not binding.value:
        raise Blocked("TFM116", line, f"the {what} is made in a way not understood")
    return statement


def _user_hook(tree: Tree, node: cst.BaseExpression, defined: cst.ClassDef) -> HookPlan:
    edits = read_fetches(tree, defined)
    methods = check_hook_class(tree, defined, edits)
    return HookPlan(
        tree.code(node),
        defined.name.value,
        methods,
        stops=bool(edits.stops),
    )


def check_hook_class(
    tree: Tree, defined: cst.ClassDef, edits: HookEdits
) -> tuple[str, ...]:
    """Names of the lifecycle methods of a class that can become a callback."""
    line = tree.line(defined)
    name = defined.name.value
    bases = [tree.symbol(base.value) for base in defined.bases]
    if len(bases) != 1 or bases[0] not in HOOK_BASES:
        raise Blocked("TFM116", line, f"`{name}` is not a plain SessionRunHook")
    methods = []
    for statement in defined.body.body:
        if not isinstance(statement, cst.FunctionDef):
            continue
        method = statement.name.value
        if method == "after_create_session":
            raise Blocked("TFM116", line, f"`{name}` works on the new session")
        if method not in LIFECYCLE:
            continue
        _check_method(tree, name, statement, edits)
        if statement not in edits.emptied:
            methods.append(method)
    return tuple(methods)


def _check_method(
    tree: Tree, owner: str, method: cst.FunctionDef, edits: HookEdits
) -> None:
    line = tree.line(method)
    shown = f"`{owner}.{method.name.value}`"
    parameters = method.params.params
    if (
        len(parameters) != LIFECYCLE[method.name.value] + 1
        or method.params.kwonly_params
        or isinstance(method.params.star_arg, cst.Param)
        or method.params.star_kwarg is not None
    ):
        raise Blocked("TFM116", line, f"{shown} has an unusual signature")
    session_names = {p.name.value for p in parameters[1:]}
    loads = tree.resolver.scopes.loads
    for node in walk(method.body):
        if node in edits.known:
            continue
        if node in loads and isinstance(node, cst.Name) and node.value in session_names:
            raise Blocked("TFM116", tree.line(node), f"{shown} uses its session")
        if isinstance(node, cst.Name) and node.value == "super":
            raise Blocked("TFM116", tree.line(node), f"{shown} calls its base class")
        if isinstance(node, cst.Return) and not is_none(node.value):
            raise Blocked("TFM116", tree.line(node), f"{shown} asks for fetches")
        if isinstance(node, cst.Call) and tree.symbol(node.func) in _GRAPH:
            raise Blocked("TFM116", tree.line(node), f"{shown} works on the graph")
