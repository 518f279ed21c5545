"""Distribution strategies of the Estimator years, and conditions that choose one."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from ..code.arguments import UnknownArguments, is_none, match_arguments
from ..code.tree import Body, Statement, Tree, statements_of, walk
from ..program import StrategyPlan
from ..sites import Blocked, StrategySite

__all__ = ["STRATEGIES", "hoisted", "read_strategy"]

# canonical name -> parameters in order
STRATEGIES: dict[str, tuple[str, ...]] = {
    "tf.contrib.distribute.MirroredStrategy": (
        "devices",
        "num_gpus",
        "num_gpus_per_worker",
        "cross_device_ops",
        "auto_shard_dataset",
        "cross_tower_ops",
        "prefetch_on_device",
    ),
    "tf.contrib.distribute.OneDeviceStrategy": ("device",),
    "tf.distribute.MirroredStrategy": ("devices", "cross_device_ops"),
    "tf.distribute.OneDeviceStrategy": ("device",),
}
_RULE = "TFM111"
_ODD = "the strategy is chosen in a way not understood"


def read_strategy(
    tree: Tree, node: cst.BaseExpression | None, line: int
) -> tuple[StrategyPlan, StrategySite | None]:
    """The strategy an expression stands for, and where it is made."""
    if node is None or is_none(tree.value(node)):
        return StrategyPlan(), None
    value = tree.value(node)
    own = isinstance(value, cst.Call) and isinstance(
        tree.resolver.definition(value.func), cst.FunctionDef
    )
    if not isinstance(value, cst.Call) or own:
        raise Blocked(_RULE, line, _ODD)
    variable = node.value if isinstance(node, cst.Name) else None
    plan = replace(_made(tree, value, line), variable=variable)
    statement = tree.statement(value) if variable is not None else None
    return plan, StrategySite(value, statement)


def _made(tree: Tree, value: cst.Call, line: int) -> StrategyPlan:
    """The plan of one constructor call."""
    symbol = tree.symbol(value.func)
    if symbol not in STRATEGIES:
        shown = symbol or tree.code(value.func)
        raise Blocked(_RULE, line, f"no native loop yet for the strategy `{shown}`")
    try:
        arguments = match_arguments(value, STRATEGIES[symbol])
    except UnknownArguments as problem:
        raise Blocked(_RULE, line, f"strategy with {problem}") from None
    return StrategyPlan(
        symbol=symbol,
        arguments=tuple((name, tree.code(arg)) for name, arg in arguments.items()),
    )


def hoisted(
    tree: Tree, site: StrategySite | None, body: Body, before: Statement
) -> list[Statement]:
    """Statements between the model and the strategy that the strategy needs."""
    if site is None:
        return []
    statements = statements_of(body)
    first = statements.index(before)
    wanted: list[Statement] = []
    own = [] if site.statement is None else [site.statement]

    def need(node: cst.CSTNode) -> None:
        for name in walk(node):
            if name not in tree.resolver.scopes.loads:
                continue
            assert isinstance(name, cst.Name)
            binding = tree.assigned(name)
            if binding is None or binding.value is None:
                # A comprehension's own variable is bound where it is read.
                here = tree.statement(name)
                later = [s for s in statements[first:] if s is not here]
                _check_plain(tree, name, later)
                continue
            statement = tree.statement(binding.value)
            if statement not in statements or statements.index(statement) < first:
                continue
            if statement not in wanted:
                need(binding.value)
                wanted.append(statement)

    sources: list[cst.CSTNode] = [*own] or [site.call]
    for source in sources:
        need(source)
    for statement in own:
        late = statement in statements and statements.index(statement) >= first
        if late and statement not in wanted:
            wanted.append(statement)
    return wanted


def _check_plain(tree: Tree, name: cst.Name, later: list[Statement]) -> None:
    for binding in tree.resolver.bindings(name):
        if binding.node is None or binding.node is tree.module:
            continue
        try:
            statement = tree.statement(binding.node)
        except ValueError:
            continue
        if statement in later:
            raise Blocked(
                _RULE,
                tree.line(name),
                f"the strategy needs `{name.value}`, which is made after the model",
            )
