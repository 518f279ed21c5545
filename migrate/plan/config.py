"""RunConfig and distribution strategies of the Estimator years."""

from __future__ import annotations

import libcst as cst

from .arguments import UnknownArguments, is_none, match_arguments, may_be_none
from .program import RunConfigPlan, StrategyPlan
from .sites import Blocked
from .substitute import substituted
from .tree import Statement, Tree, walk

__all__ = ["RUN_CONFIGS", "STRATEGIES", "read_run_config", "read_strategy"]

RUN_CONFIGS = ("tf.estimator.RunConfig", "tf.contrib.learn.RunConfig")

_RUN_CONFIG_PARAMETERS = (
    "model_dir",
    "tf_random_seed",
    "save_summary_steps",
    "save_checkpoints_steps",
    "save_checkpoints_secs",
    "session_config",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
    "train_distribute",
    "device_fn",
    "protocol",
    "eval_distribute",
    "experimental_distribute",
    "experimental_max_worker_delay_secs",
    "session_creation_timeout_secs",
    "checkpoint_save_graph_def",
)

# Fields without a meaning in a TF2 loop: sessions, protocols and graph files
# are gone. Placement functions and worker layouts cannot be dropped silently.
_WITHOUT_EFFECT = {
    "session_config",
    "protocol",
    "experimental_max_worker_delay_secs",
    "session_creation_timeout_secs",
    "checkpoint_save_graph_def",
}
_UNSUPPORTED = (
    "device_fn",
    "experimental_distribute",
    "keep_checkpoint_every_n_hours",
)

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


def read_strategy(
    tree: Tree, node: cst.BaseExpression | None
) -> tuple[StrategyPlan, cst.Call | None]:
    """The strategy an expression stands for, and the call that makes it."""
    if is_none(node):
        return StrategyPlan(), None
    assert node is not None
    value = tree.value(node)
    line = tree.line(node)
    if is_none(value):
        return StrategyPlan(), None
    if not isinstance(value, cst.Call):
        raise Blocked("TFM111", line, "the strategy is chosen in a way not understood")
    symbol = tree.symbol(value.func)
    if symbol not in STRATEGIES:
        shown = symbol or tree.code(value.func)
        raise Blocked("TFM111", line, f"no native loop yet for the strategy `{shown}`")
    try:
        arguments = match_arguments(value, STRATEGIES[symbol])
    except UnknownArguments as problem:
        raise Blocked("TFM111", line, f"strategy with {problem}") from None
    plan = StrategyPlan(
        symbol=symbol,
        variable=node.value if isinstance(node, cst.Name) else None,
        arguments=tuple((name, tree.code(arg)) for name, arg in arguments.items()),
    )
    return plan, value


def _run_config_arguments(
    tree: Tree, value: cst.BaseExpression | None, line: int
) -> dict[str, cst.BaseExpression]:
    """Arguments of a RunConfig, through calls of ``replace``."""
    odd = Blocked("TFM112", line, "the RunConfig is built in a way not understood")
    if not isinstance(value, cst.Call):
        raise odd
    earlier: dict[str, cst.BaseExpression] = {}
    if tree.symbol(value.func) not in RUN_CONFIGS:
        function = value.func
        if not isinstance(function, cst.Attribute) or function.attr.value != "replace":
            raise odd
        earlier = _run_config_arguments(tree, tree.value(function.value), line)
        if any(argument.keyword is None for argument in value.args):
            raise odd
    try:
        return {**earlier, **match_arguments(value, _RUN_CONFIG_PARAMETERS)}
    except UnknownArguments as problem:
        raise Blocked("TFM112", line, f"RunConfig with {problem}") from None


def _made_by_function(
    tree: Tree, value: cst.BaseExpression | None
) -> tuple[cst.FunctionDef, cst.Call, cst.Call] | None:
    """``get_config(args)``: the function, the RunConfig it returns, and the call."""
    if not isinstance(value, cst.Call):
        return None
    function = tree.resolver.definition(value.func)
    if not isinstance(function, cst.FunctionDef):
        return None
    returns = [n for n in walk(function.body) if isinstance(n, cst.Return)]
    made = tree.value(returns[0].value) if len(returns) == 1 else None
    if not isinstance(made, cst.Call) or tree.symbol(made.func) not in RUN_CONFIGS:
        return None
    return function, made, value


def _from_function(
    tree: Tree, function: cst.FunctionDef, made: cst.Call, call: cst.Call
) -> dict[str, cst.BaseExpression]:
    """The RunConfig's arguments, as the caller of the function sees them."""
    line = tree.line(call)
    odd = Blocked("TFM112", line, "the RunConfig is built in a way not understood")
    callers = [
        load
        for load in tree.loads(function.name.value)
        if tree.resolver.definition(load) is function
    ]
    scope = tree.resolver.scopes.opened.get(function)
    if len(callers) != 1 or scope is None:
        raise odd
    parameters = [p.name.value for p in function.params.params]
    try:
        given = match_arguments(call, parameters)
    except UnknownArguments as problem:
        raise Blocked("TFM112", line, f"RunConfig with {problem}") from None
    texts = {
        p.name.value: tree.code(p.default)
        for p in function.params.params
        if p.default is not None
    }
    texts.update({name: tree.code(node) for name, node in given.items()})
    fields = _run_config_arguments(tree, made, line)
    local = set(scope.bindings) - set(parameters)
    found = {}
    for name, node in fields.items():
        if name in _WITHOUT_EFFECT:
            continue
        if any(isinstance(n, cst.Name) and n.value in local for n in walk(node)):
            raise odd
        found[name] = substituted(node, texts)
    return found


def read_run_config(
    tree: Tree, node: cst.BaseExpression | None
) -> tuple[RunConfigPlan, cst.BaseExpression | None, Statement | None]:
    """The plan of a RunConfig and its ``train_distribute`` expression.

    Also the function that made nothing but this RunConfig, if there was one.
    """
    value = tree.value(node)
    drop: Statement | None = None
    if is_none(value):
        return RunConfigPlan(), None, None
    assert node is not None
    line = tree.line(node)
    made = _made_by_function(tree, value)
    if made is None:
        given = _run_config_arguments(tree, value, line)
    else:
        given = _from_function(tree, *made)
        drop = made[0]
    for name in _UNSUPPORTED:
        if not is_none(given.get(name)):
            raise Blocked(
                "TFM112", line, f"RunConfig(`{name}`=) has no loop equivalent"
            )

    def text(name: str) -> str | None:
        argument = given.get(name)
        return None if argument is None or is_none(argument) else tree.code(argument)

    evaluates_on = text("eval_distribute")
    if evaluates_on is not None and evaluates_on != text("train_distribute"):
        raise Blocked("TFM112", line, "it evaluates on a strategy of its own")
    return (
        RunConfigPlan(
            eval_distributed=evaluates_on is not None,
            model_dir=text("model_dir"),
            model_dir_optional=may_be_none(tree, given.get("model_dir")),
            seed=text("tf_random_seed"),
            save_steps=text("save_checkpoints_steps"),
            save_seconds=text("save_checkpoints_secs"),
            keep_max=text("keep_checkpoint_max"),
            log_steps=text("log_step_count_steps"),
            summary_steps=text("save_summary_steps"),
        ),
        given.get("train_distribute"),
        drop,
    )
