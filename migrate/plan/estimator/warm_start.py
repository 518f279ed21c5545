"""Checkpoints of TF1 from which a model_fn or an Estimator starts.

Such code goes by the names that TF1 gave the variables; a model that keeps its
forward code has them still. What follows from names is done once, when the
variables are there and before the program's own latest checkpoint is looked for:
that one wins, as it did.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst

from ..code.arguments import UnknownArguments, is_none, match_arguments
from ..code.statements import backward_slice, binds, loads
from ..code.tree import Body, Statement, Tree, walk
from ..layers.lifted_names import source_text
from ..model_fn.graph_values import graph_value
from ..model_fn.kept_checks import elsewhere, reachable
from ..model_fn.source import Source
from ..program import MODEL, TF
from ..sites import Blocked
from .calls import own_statement

__all__ = [
    "BY_NAME",
    "INIT",
    "LOAD",
    "READS",
    "check_effects",
    "read_started_from",
    "read_warm_start",
]

# Stands for the function that loads variables, which the program is given.
LOAD = "__init_from_checkpoint__"
BY_NAME = "a checkpoint is loaded by the names that TF1 gave the variables"

INIT = (
    "tf.train.init_from_checkpoint",
    "tf.contrib.framework.init_from_checkpoint",
)
# What a model_fn does to its graph besides what its spec holds.
_EFFECTS = (
    *INIT,
    "tf.contrib.framework.assign_from_checkpoint",
    "tf.contrib.framework.assign_from_checkpoint_fn",
    "tf.contrib.slim.assign_from_checkpoint",
    "tf.contrib.slim.assign_from_checkpoint_fn",
    "tf.losses.add_loss",
    "tf.train.Saver",
    "tf.train.warm_start",
)
_VARIABLES = {
    "tf.all_variables": "variables",
    "tf.global_variables": "variables",
    "tf.model_variables": "variables",
}
READS = (
    "tf.contrib.framework.list_variables",
    "tf.contrib.framework.load_variable",
    "tf.train.NewCheckpointReader",
    "tf.train.checkpoint_exists",
    "tf.train.get_checkpoint_state",
    "tf.train.latest_checkpoint",
    "tf.train.list_variables",
    "tf.train.load_checkpoint",
    "tf.train.load_variable",
)
_FOLDERS = ("tf.logging.", "tf.gfile.", "tf.io.gfile.")
_SETTINGS = (
    "ckpt_to_initialize_from",
    "vars_to_warm_start",
    "var_name_to_vocab_info",
    "var_name_to_prev_var_name",
)


def check_effects(source: Source, *, kept: bool) -> None:
    """Blocked where a model_fn does something that no part of a loop would do."""
    tree = source.tree
    body = source.defined.body
    own = set(walk(body))
    for node in reachable(tree, [body]):
        if not isinstance(node, cst.Call):
            continue
        symbol = tree.symbol(node.func)
        if symbol not in _EFFECTS:
            continue
        if symbol not in INIT:
            raise source.stop(node, f"`{symbol}` has no loop equivalent yet")
        if not kept:
            raise source.stop(node, BY_NAME)
        if node not in own:
            raise source.stop(node, f"`{symbol}` in a function of its own")


def read_warm_start(
    source: Source, statements: Sequence[Statement], made: set[str]
) -> tuple[str, ...]:
    """What loads a checkpoint, as code on the model that is made.

    ``statements`` are those of training behind the forward pass, which makes
    ``made``.
    """
    tree = source.tree
    calls = [c for s in statements for c in tree.calls(s, INIT)]
    if len(calls) != len(list(tree.calls(source.defined.body, INIT))):
        call = next(tree.calls(source.defined.body, INIT))
        raise source.stop(call, "a checkpoint is loaded in some modes only")
    wanted: set[str] = set()
    chosen: list[Statement] = []
    for index in reversed(range(len(statements))):
        statement = statements[index]
        if not any(call in walk(statement) for call in calls):
            continue
        chosen.append(statement)
        wanted |= loads(tree, statement)
    if not chosen:
        return ()
    if any(isinstance(n, cst.Return) for s in chosen for n in walk(s)):
        raise source.stop(chosen[0], "it returns where a checkpoint is loaded")
    needed = [s for s in backward_slice(tree, statements, wanted) if s not in chosen]
    last = max(statements.index(s) for s in chosen)
    chosen += [s for s in needed if statements.index(s) < last]
    chosen.sort(key=statements.index)
    reads = {name for s in chosen for name in loads(tree, s)}
    bound = {name for s in chosen for name in binds(s)}
    hidden = sorted((reads - bound) & (made | {"features", "labels", "mode"}))
    if hidden:
        reason = f"what is loaded of a checkpoint depends on `{hidden[0]}`"
        raise source.stop(chosen[0], reason)
    for statement in chosen:
        _check(source, statement)
    return tuple(source_text(s.visit(_Loads(source))) for s in chosen)  # type: ignore[arg-type]


def _check(source: Source, statement: Statement) -> None:
    """Only names, checkpoints and messages are in it, also in what it calls."""
    tree = source.tree
    for node in reachable(tree, [statement]):
        if not isinstance(node, cst.Call):
            continue
        symbol = tree.symbol(node.func)
        if symbol is None:
            foreign = elsewhere(tree, node)
            if foreign is not None:
                raise source.stop(node, f"`{foreign}` is defined in another module")
            continue
        known = symbol in INIT or symbol in _VARIABLES or symbol in READS
        if known or symbol.startswith(_FOLDERS):
            continue
        if graph_value(tree, node) is None:
            raise source.stop(node, f"`{symbol}` where a checkpoint is loaded")
        if node not in walk(statement):
            raise source.stop(node, f"`{symbol}` in a function of its own")


class _Loads(cst.CSTTransformer):
    def __init__(self, source: Source) -> None:
        self.source = source
        self.tree = source.tree

    def leave_Call(
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        symbol = self.tree.symbol(original_node.func)
        if symbol in _VARIABLES:
            return cst.parse_expression(f"{MODEL}.{_VARIABLES[symbol]}")
        if symbol in INIT:
            try:
                match_arguments(original_node, ("ckpt_dir_or_file", "assignment_map"))
            except UnknownArguments as problem:
                reason = f"init_from_checkpoint with {problem}"
                raise self.source.stop(original_node, reason) from None
            model = cst.parse_expression(f"f({MODEL}, 0)")
            assert isinstance(model, cst.Call)
            args = [
                a.with_changes(keyword=None, equal=cst.MaybeSentinel.DEFAULT)
                for a in _in_order(updated_node)
            ]
            return updated_node.with_changes(
                func=cst.Name(LOAD), args=[model.args[0], *args]
            )
        code = graph_value(self.tree, original_node)
        return updated_node if code is None else cst.parse_expression(code)


def _in_order(call: cst.Call) -> Iterator[cst.Arg]:
    """The arguments, the checkpoint first."""
    named = [a.keyword.value if a.keyword is not None else "" for a in call.args]
    swapped = named[:1] == ["assignment_map"]
    args = list(reversed(call.args)) if swapped else list(call.args)
    if swapped:
        args = [
            args[0].with_changes(comma=call.args[0].comma),
            args[1].with_changes(comma=call.args[1].comma),
        ]
    yield from args


@dataclass
class StartedFrom:
    """``warm_start_from=`` of an Estimator, as code on the model that is made.

    ``values`` are (name, source) pairs that the code reads, ``drop`` the statement
    that made the settings.
    """

    code: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    drop: list[Statement] = field(default_factory=list)


def read_started_from(
    tree: Tree, node: cst.BaseExpression | None, body: Body, line: int
) -> StartedFrom:
    """What an Estimator's own argument says of the checkpoint it starts from."""
    value = tree.value(node)
    if value is None or is_none(value):
        return StartedFrom()
    drop: list[Statement] = []
    names, pattern, earlier = 'variable.name.partition(":")[0]', "", ""
    path = source_text(node) if node is not None else ""
    is_settings = isinstance(value, cst.Call) and (
        tree.symbol(value.func) == "tf.estimator.WarmStartSettings"
    )
    if is_settings:
        assert isinstance(value, cst.Call)
        try:
            given = match_arguments(value, _SETTINGS)
        except UnknownArguments as problem:
            reason = f"WarmStartSettings with {problem}"
            raise Blocked("TFM103", line, reason) from None
        if not is_none(given.get("var_name_to_vocab_info")):
            reason = "WarmStartSettings(`var_name_to_vocab_info`=)"
            raise Blocked("TFM103", line, reason)
        own = own_statement(tree, node, body, "WarmStartSettings")
        drop += [] if own is None else [own]
        path = source_text(given["ckpt_to_initialize_from"])
        chosen = given.get("vars_to_warm_start")
        if chosen is not None:
            if not isinstance(tree.value(chosen), cst.SimpleString):
                reason = "WarmStartSettings(`vars_to_warm_start`=) is not one pattern"
                raise Blocked("TFM103", line, reason)
            pattern = source_text(chosen)
        if not is_none(given.get("var_name_to_prev_var_name")):
            earlier = source_text(given["var_name_to_prev_var_name"])
    elif not isinstance(value, (cst.SimpleString, cst.FormattedString)) and (
        not isinstance(value, (cst.Attribute, cst.Call, cst.BinaryOperation))
        or tree.symbol(getattr(value, "func", None)) is not None
    ):
        raise Blocked("TFM103", line, "Estimator(`warm_start_from`=) is not seen")
    values = []
    if not path.startswith(("'", '"')):
        values.append(("start_from", path))
        path = "start_from"
    assign = "variable.assign(reader.get_tensor(name))\n"
    if earlier:
        values.append(("earlier_names", earlier))
        assign = "variable.assign(reader.get_tensor(earlier_names.get(name, name)))\n"
    inside = f"    name = {names}\n    {assign}"
    if pattern and pattern[1:-1] != ".*":
        inside = (
            f"    if re.match({pattern}, variable.name):\n"
            f"        name = {names}\n        {assign}"
        )
    code = (
        "# Variables start from a checkpoint of TF1, by the names they have there.\n"
        f"reader = {TF}.train.load_checkpoint({path})\n",
        f"for variable in {MODEL}.trainable_variables:\n{inside}",
    )
    return StartedFrom(code, tuple(values), drop)
