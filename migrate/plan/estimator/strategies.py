"""Distribution strategies of the Estimator years, and conditions that choose one."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from ...symbols.scopes import Binding
from ..code.alternatives import Alternatives, Choice, Found, Value, leaves
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
    variable = node.value if isinstance(node, cst.Name) else None
    called = value.func if isinstance(value, cst.Call) else None
    own = called is not None and isinstance(
        tree.resolver.definition(called), cst.FunctionDef
    )
    if isinstance(value, cst.Call) and not own:
        plan = _made(tree, value, line)
        statements = [tree.statement(value)] if variable is not None else []
        site = StrategySite([(value, plan)], statements)
        return replace(plan, variable=variable), site
    reader = Alternatives(tree)
    found = reader.read(node)
    if found is None:
        raise Blocked(_RULE, line, _ODD)
    plan = _chosen(tree, found, line)
    if plan.symbol is None:
        raise Blocked(_RULE, line, _ODD)
    if reader.function is not None:
        return _from_function(tree, node, reader, plan, line)
    if variable is None:
        return plan, StrategySite([(node, plan)])
    assert reader.variable is not None
    _check_uses(tree, reader.variable, node)
    places = [
        (expression, _place(tree, expression, line))
        for statement in reader.statements
        for expression in reader.values(statement)
    ]
    alone = all(reader.only_sets(s) for s in reader.statements)
    return replace(plan, variable=variable), StrategySite(
        places, reader.statements, alone
    )


def _made(tree: Tree, value: cst.BaseExpression, line: int) -> StrategyPlan:
    """The plan of one constructor call, or of None."""
    if is_none(value):
        return StrategyPlan()
    if not isinstance(value, cst.Call):
        raise Blocked(_RULE, line, _ODD)
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


def _chosen(tree: Tree, value: Value, line: int) -> StrategyPlan:
    """One plan for all that may be chosen: it tells what the loop must be able to do.

    The loop is that of several replicas when any of the strategies has several.
    """
    plans = [_made(tree, found.expression, line) for found in leaves(value)]
    made = [plan for plan in plans if plan.symbol is not None]
    made.sort(key=lambda plan: str(plan.symbol).endswith(".OneDeviceStrategy"))
    if isinstance(value, Found) or not made:
        return plans[0]
    numbers = iter(range(len(plans)))

    def text(part: Value) -> str:
        if isinstance(part, Found):
            return f"__strategy_{next(numbers)}__"
        yes = text(part.yes)
        return f"{yes} if {tree.code(part.test)} else {text(part.no)}"

    return StrategyPlan(symbol=made[0].symbol, choices=tuple(plans), code=text(value))


def _place(tree: Tree, node: cst.BaseExpression, line: int) -> StrategyPlan:
    """The plan of one right-hand side or returned expression."""

    def value(part: cst.BaseExpression) -> Value:
        if isinstance(part, cst.IfExp):
            return Choice(part.test, value(part.body), value(part.orelse))
        found = tree.value(part)
        return Found(part if found is None else found)

    return _chosen(tree, value(node), line)


def _check_uses(tree: Tree, variable: Binding, node: cst.BaseExpression) -> None:
    """None has no place in the loop: nothing else may ask the variable for it."""
    name = variable.name
    bindings = variable.scope.bindings[name]
    for load in tree.loads(name):
        if not any(b in bindings for b in tree.resolver.bindings(load)):
            continue
        parent = tree.parent(load)
        if isinstance(parent, cst.Attribute):
            continue
        keyword = parent.keyword if isinstance(parent, cst.Arg) else None
        if keyword is not None and keyword.value in (
            "train_distribute",
            "eval_distribute",
        ):
            continue
        if load is not node:
            line = tree.line(load)
            raise Blocked(_RULE, line, f"`{name}`, which may be None, is used here")


def _from_function(
    tree: Tree,
    node: cst.BaseExpression,
    reader: Alternatives,
    plan: StrategyPlan,
    line: int,
) -> tuple[StrategyPlan, StrategySite]:
    """``get_strategy(args.gpus)``: the function returns today's strategies."""
    function, call = reader.function, reader.call
    assert function is not None
    assert call is not None
    callers = tree.loads_of(function)
    if len(callers) != 1:
        raise Blocked(_RULE, line, f"`{function.name.value}` is called elsewhere too")
    if tree.value(node) is not call:
        raise Blocked(_RULE, line, _ODD)
    places = []
    for inner in walk(function.body):
        if isinstance(inner, cst.Return) and inner.value is not None:
            value = inner.value
            if isinstance(value, cst.Name) and value.value != "None":
                value = tree.value(value) or value
            places.append((value, _place(tree, value, line)))
    variable = node.value if isinstance(node, cst.Name) else None
    statements = [tree.statement(call)] if variable is not None else []
    plan = StrategyPlan(plan.symbol, variable, (), plan.choices, tree.code(call))
    binding = tree.assigned(node)
    if binding is not None:
        _check_uses(tree, binding, node)
    return plan, StrategySite(places, statements, in_function=True)


def hoisted(
    tree: Tree, site: StrategySite | None, body: Body, before: Statement
) -> list[Statement]:
    """Statements between the model and the strategy that the strategy needs."""
    if site is None:
        return []
    statements = statements_of(body)
    first = statements.index(before)
    wanted: list[Statement] = []
    own = site.statements

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

    sources: list[cst.CSTNode] = [*own] or [place for place, _ in site.places]
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
