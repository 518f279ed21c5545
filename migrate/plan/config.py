"""RunConfig and distribution strategies of the Estimator years."""

from __future__ import annotations

import libcst as cst

from .arguments import UnknownArguments, is_none, match_arguments, may_be_none
from .program import RunConfigPlan, StrategyPlan
from .sites import Blocked
from .tree import Tree

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


def read_run_config(
    tree: Tree, node: cst.BaseExpression | None
) -> tuple[RunConfigPlan, cst.BaseExpression | None]:
    """The plan of a RunConfig and its ``train_distribute`` expression."""
    value = tree.value(node)
    if is_none(value):
        return RunConfigPlan(), None
    assert node is not None
    line = tree.line(node)
    given = _run_config_arguments(tree, value, line)
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
    )
