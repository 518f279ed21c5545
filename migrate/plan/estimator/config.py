"""RunConfig: the fields that shape a loop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import libcst as cst

from ...symbols.scopes import BindingKind
from ..code.arguments import UnknownArguments, is_none, match_arguments, may_be_none
from ..code.tree import Body, Statement, Tree
from ..program import Difference, RunConfigPlan
from ..sites import Blocked
from .calls import own_statement

__all__ = ["RUN_CONFIGS", "lost_settings", "read_run_config", "session_configs"]

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
    "evaluation_master",
    "master",
    "gpu_memory_fraction",
    "log_device_placement",
    "num_cores",
    "session_config",
    "protocol",
    "experimental_max_worker_delay_secs",
    "session_creation_timeout_secs",
    "checkpoint_save_graph_def",
}
# What TF 2 sets for the process, and a loop therefore does not.
_OF_SESSIONS = ("session_config", "gpu_memory_fraction", "log_device_placement")
_UNSUPPORTED = (
    "device_fn",
    "experimental_distribute",
    "keep_checkpoint_every_n_hours",
)


# The class of contrib.learn: other parameters first, and no strategies.
_CONTRIB_PARAMETERS = (
    "master",
    "num_cores",
    "log_device_placement",
    "gpu_memory_fraction",
    "tf_random_seed",
    "save_summary_steps",
    "save_checkpoints_secs",
    "save_checkpoints_steps",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "log_step_count_steps",
    "protocol",
    "evaluation_master",
    "model_dir",
    "session_config",
    "session_creation_timeout_secs",
)
_SAVES = ("save_checkpoints_steps", "save_checkpoints_secs")
_RULE = "TFM112"
_ODD = "the RunConfig is built in a way not understood"

_Fields = dict[str, cst.BaseExpression]


def _check_cluster(tree: Tree) -> None:
    """Blocked where a program has to do with roles in a cluster.

    What trains, what evaluates and what waits follows from TF_CONFIG there.
    """
    if "TF_CONFIG" not in tree.text:
        return
    for node in tree.nodes:
        if isinstance(node, cst.SimpleString) and "TF_CONFIG" in node.value:
            reason = "the program reads or sets `TF_CONFIG`, the roles of a cluster"
            raise Blocked(_RULE, tree.line(node), reason)


def lost_settings(tree: Tree) -> list[Difference]:
    """Settings of sessions that the module's RunConfigs made and loops do not."""
    found = []
    for call, argument in _of_sessions(tree):
        assert argument.keyword is not None
        message = (
            f"RunConfig(`{argument.keyword.value}`=) is not carried over: set memory "
            "growth, devices and threads by tf.config, before the first tensor"
        )
        line = tree.line(call)
        found.append(Difference("TFM145", line, message, needs_review=True))
    return found


def session_configs(tree: Tree) -> list[cst.BaseExpression]:
    """What the module's RunConfigs were given for their sessions."""
    return [argument.value for _, argument in _of_sessions(tree)]


def _of_sessions(tree: Tree) -> Iterator[tuple[cst.Call, cst.Arg]]:
    for call in tree.nodes:
        if not isinstance(call, cst.Call):
            continue
        replaced = isinstance(call.func, cst.Attribute) and (
            call.func.attr.value == "replace"
        )
        if not replaced and tree.symbol(call.func) not in RUN_CONFIGS:
            continue
        for argument in call.args:
            name = argument.keyword.value if argument.keyword is not None else ""
            if name in _OF_SESSIONS and not is_none(argument.value):
                yield call, argument


def _arguments(tree: Tree, value: cst.BaseExpression, line: int) -> _Fields:
    """Arguments of a RunConfig, through calls of ``replace``."""
    if not isinstance(value, cst.Call):
        raise Blocked(_RULE, line, _ODD)
    earlier: _Fields = {}
    symbol = tree.symbol(value.func)
    parameters: tuple[str, ...] = _RUN_CONFIG_PARAMETERS
    if symbol == "tf.contrib.learn.RunConfig":
        parameters = _CONTRIB_PARAMETERS
    elif symbol not in RUN_CONFIGS:
        function = value.func
        if not isinstance(function, cst.Attribute) or function.attr.value != "replace":
            raise Blocked(_RULE, line, _ODD)
        before = tree.value(function.value)
        if before is None or isinstance(before, cst.Name):
            raise Blocked(_RULE, line, _ODD)
        earlier = _arguments(tree, before, line)
        if any(argument.keyword is None for argument in value.args):
            raise Blocked(_RULE, line, _ODD)
    try:
        given = match_arguments(value, parameters)
    except UnknownArguments as problem:
        raise Blocked(_RULE, line, f"RunConfig with {problem}") from None
    given = {n: v for n, v in given.items() if n not in _WITHOUT_EFFECT}
    if set(given) & set(_SAVES):
        # One way to save takes the place of the other.
        earlier = {n: v for n, v in earlier.items() if n not in _SAVES}
    return {**earlier, **given}


def _read(
    tree: Tree, node: cst.BaseExpression, body: Body, line: int
) -> tuple[_Fields, list[Statement]]:
    """The fields of a RunConfig, and the statements that make only it."""
    value = tree.value(node)
    own = own_statement(tree, node, body, "RunConfig")
    if not isinstance(value, cst.Call) or isinstance(
        tree.resolver.definition(value.func), cst.FunctionDef
    ):
        raise Blocked(_RULE, line, _not_seen(tree, node))
    return _arguments(tree, value, line), [] if own is None else [own]


def _not_seen(tree: Tree, node: cst.BaseExpression) -> str:
    """Why the fields of a RunConfig are not known, with advice where there is any."""
    bindings = tree.resolver.bindings(node) if isinstance(node, cst.Name) else []
    if any(binding.kind is BindingKind.PARAMETER for binding in bindings):
        function = tree.function(node)
        name = function.name.value if isinstance(function, cst.FunctionDef) else ""
        return (
            f"the RunConfig is a parameter, `{tree.code(node)}` of `{name}`: make it "
            "in the function that makes the Estimator"
        )
    return _ODD


def read_run_config(
    tree: Tree, given: Mapping[str, cst.BaseExpression], body: Body
) -> tuple[RunConfigPlan, cst.BaseExpression | None, list[Statement]]:
    """The plan of an Estimator's ``config`` and its ``train_distribute`` expression.

    Also the statements that do nothing but make this RunConfig. A ``model_dir`` that
    the Estimator was ``given`` itself takes the place of the RunConfig's.
    """
    _check_cluster(tree)
    config, distribute, made = _read_config(tree, given.get("config"), body)
    own = given.get("model_dir")
    if own is not None and not is_none(own):
        config = replace(
            config,
            model_dir=tree.code(own),
            model_dir_optional=may_be_none(tree, own),
        )
    return config, distribute, made


def _read_config(
    tree: Tree, node: cst.BaseExpression | None, body: Body
) -> tuple[RunConfigPlan, cst.BaseExpression | None, list[Statement]]:
    if node is None or is_none(tree.value(node)):
        own = own_statement(tree, node, body, "RunConfig")
        return RunConfigPlan(), None, [] if own is None else [own]
    line = tree.line(node)
    given, drop = _read(tree, node, body, line)
    for name in _UNSUPPORTED:
        if not is_none(given.get(name)):
            raise Blocked(
                "TFM112", line, f"RunConfig(`{name}`=) has no loop equivalent"
            )

    def text(name: str) -> str | None:
        argument = given.get(name)
        if argument is None or is_none(argument):
            return None
        return tree.code(argument)

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
