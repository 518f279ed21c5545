"""Hooks that only say what a loop prints, and where it ends.

All others do their work on the loop module, as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import libcst as cst

from ..code.arguments import UnknownArguments, is_none, match_arguments
from ..code.tree import Statement, Tree, only_small
from ..program import StockHooks
from ..sites import Blocked

__all__ = ["HOOK_BASES", "Hooks", "read_hooks"]

HOOK_BASES = ("tf.train.SessionRunHook", "tf.estimator.SessionRunHook")

_RULE = "TFM116"
_FOLDERS = ("tf.train", "tf.estimator")
_PARAMETERS = {
    "LoggingTensorHook": (
        "tensors",
        "every_n_iter",
        "every_n_secs",
        "at_end",
        "formatter",
    ),
    "StepCounterHook": (
        "every_n_steps",
        "every_n_secs",
        "output_dir",
        "summary_writer",
    ),
    "StopAtStepHook": ("num_steps", "last_step"),
}
# What a line of a loop cannot say.
_MORE = ("every_n_secs", "formatter", "output_dir", "summary_writer")
_LOSS_NAMES = ("loss", "loss:0")


@dataclass
class Hooks:
    """What the hooks of a call ask; ``drop`` are the statements that made them."""

    stock: StockHooks = field(default_factory=StockHooks)
    drop: list[Statement] = field(default_factory=list)


def read_hooks(tree: Tree, node: cst.BaseExpression | None, line: int) -> Hooks:
    """The hooks given to a call."""
    found = Hooks()
    value = tree.value(node)
    if value is None or is_none(value):
        return found
    if not isinstance(value, (cst.List, cst.Tuple)):
        raise Blocked(_RULE, line, "hooks are not given as a plain list")
    if node is not value:
        found.drop.append(_only_use(tree, node, "list of hooks"))
    for element in value.elements:
        made = tree.value(element.value)
        symbol = tree.symbol(made.func) if isinstance(made, cst.Call) else None
        folder, _, name = (symbol or "").rpartition(".")
        if (
            not isinstance(made, cst.Call)
            or isinstance(element, cst.StarredElement)
            or name not in _PARAMETERS
            or folder not in _FOLDERS
        ):
            shown = symbol or tree.code(element.value)
            at = tree.line(element.value)
            raise Blocked(_RULE, at, f"no loop equivalent for the hook `{shown}`")
        found.stock = _read(tree, made, name, found)
        if element.value is not made:
            found.drop.append(_only_use(tree, element.value, "hook"))
    return found


def _read(tree: Tree, call: cst.Call, name: str, found: Hooks) -> StockHooks:
    """What one more hook asks."""
    line = tree.line(call)
    try:
        given = match_arguments(call, _PARAMETERS[name])
    except UnknownArguments as problem:
        raise Blocked(_RULE, line, f"the hook `{name}` with {problem}") from None
    given = {one: node for one, node in given.items() if not is_none(node)}
    for one in _MORE:
        if one in given:
            raise Blocked(_RULE, line, f"`{name}({one}=)` has no loop equivalent")

    def text(one: str) -> str | None:
        return tree.code(given[one]) if one in given else None

    if name == "StepCounterHook":
        return replace(found.stock, rate_steps=text("every_n_steps") or "100")
    if name == "LoggingTensorHook":
        found.drop += _logs_loss(tree, given.get("tensors"), line)
        return replace(found.stock, log_steps=text("every_n_iter"))
    steps, last = text("num_steps"), text("last_step")
    if (steps is None) == (last is None):
        reason = "`StopAtStepHook` takes one of num_steps and last_step"
        raise Blocked(_RULE, line, reason)
    return replace(found.stock, num_steps=steps, last_step=last)


def _logs_loss(
    tree: Tree, node: cst.BaseExpression | None, line: int
) -> list[Statement]:
    """The statement that lists what is printed; Blocked if that is not the loss."""
    value = tree.value(node)
    tensors: list[cst.BaseExpression] = []
    if isinstance(value, (cst.Dict, cst.List, cst.Tuple)):
        tensors = [one.value for one in value.elements]
    named = [
        one.raw_value if isinstance(one, cst.SimpleString) else "" for one in tensors
    ]
    if not named or not all(one in _LOSS_NAMES for one in named):
        reason = "`LoggingTensorHook` prints other tensors than the loss"
        raise Blocked(_RULE, line, reason)
    return [] if node is value else [_only_use(tree, node, "list of tensors")]


def _only_use(tree: Tree, node: cst.BaseExpression | None, what: str) -> Statement:
    """The assignment of a name that nothing else reads."""
    binding = tree.assigned(node)
    assert binding is not None
    assert binding.value is not None
    line = tree.line(binding.value)
    if len(tree.uses(binding)) != 1:
        raise Blocked(_RULE, line, f"the {what} is used elsewhere too")
    statement = tree.statement(binding.value)
    small = only_small(statement)
    if not isinstance(small, cst.Assign) or small.value is not binding.value:
        raise Blocked(_RULE, line, f"the {what} is made in a way not understood")
    return statement
