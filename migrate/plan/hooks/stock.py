"""TensorFlow's own hooks: what each of them asks of a loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import libcst as cst

from ..code.arguments import UnknownArguments, is_none, match_arguments
from ..code.tree import Statement, Tree
from ..program import Difference, StockHooks
from ..sites import Blocked

__all__ = ["read_stock_hook"]

_LOGGING = ("tensors", "every_n_iter", "every_n_secs", "at_end", "formatter")
_COUNTER = ("every_n_steps", "every_n_secs", "output_dir", "summary_writer")
_STOP = ("num_steps", "last_step")
_LOSS_NAMES = ("loss", "loss:0")
_BY_TIME = "went by seconds; the loop prints every so many steps"


class _Hook:
    """One stock hook in a list of hooks."""

    def __init__(self, tree: Tree, call: cst.Call, symbol: str) -> None:
        self.tree = tree
        self.call = call
        self.symbol = symbol
        self.line = tree.line(call)
        self.drop: list[Statement] = []

    def stop(self, reason: str) -> Blocked:
        return Blocked("TFM116", self.line, reason)

    def given(self, parameters: tuple[str, ...]) -> dict[str, cst.BaseExpression]:
        try:
            return match_arguments(self.call, parameters)
        except UnknownArguments as problem:
            raise self.stop(f"the hook `{self.symbol}` with {problem}") from None

    def note(self, message: str) -> Difference:
        return Difference("TFM136", self.line, message, needs_review=True)

    def text(self, given: dict[str, cst.BaseExpression], name: str) -> str | None:
        node = given.get(name)
        return None if node is None or is_none(node) else self.tree.code(node)


_Read = tuple[StockHooks, list[Difference]]


def _logging(hook: _Hook, found: StockHooks) -> _Read:
    given = hook.given(_LOGGING)
    steps = hook.text(given, "every_n_iter")
    missing = _tensor_names(hook, given.get("tensors"))
    differences = []
    if missing:
        shown = ", ".join(f"`{name}`" for name in missing)
        message = f"LoggingTensorHook printed {shown}; the loop prints the loss only"
        differences.append(hook.note(message))
    if hook.text(given, "every_n_secs") is not None:
        differences.append(hook.note(f"LoggingTensorHook {_BY_TIME}"))
    if hook.text(given, "formatter") is not None:
        message = "LoggingTensorHook had a formatter; the loop prints the loss as it is"
        differences.append(hook.note(message))
    # In chunks, a loop prints the loss of its last step anyway.
    at_end = hook.text(given, "at_end") not in (None, "False")
    return replace(found, log_steps=steps, log_end=at_end), differences


def _tensor_names(hook: _Hook, node: cst.BaseExpression | None) -> list[str]:
    """Labels of the tensors that are not the loss."""
    value = hook.tree.value(node)
    binding = hook.tree.assigned(node)
    if binding is not None and len(hook.tree.uses(binding)) == 1:
        hook.drop.append(hook.tree.statement(binding.node))
    elements: list[tuple[cst.BaseExpression, cst.BaseExpression]] = []
    if isinstance(value, cst.Dict):
        for pair in value.elements:
            if not isinstance(pair, cst.DictElement):
                raise hook.stop("what LoggingTensorHook prints is not seen")
            elements.append((pair.key, pair.value))
    elif isinstance(value, cst.DictComp):
        listed = _comprehended(value)
        if listed is None:
            raise hook.stop("what LoggingTensorHook prints is not seen")
        elements += [(element.value, element.value) for element in listed.elements]
    elif isinstance(value, (cst.List, cst.Tuple)):
        for element in value.elements:
            elements.append((element.value, element.value))
    else:
        raise hook.stop("what LoggingTensorHook prints is not seen")
    missing = []
    for label, tensor in elements:
        if not isinstance(label, cst.SimpleString):
            raise hook.stop("what LoggingTensorHook prints is not seen")
        name = hook.tree.code(tensor)[1:-1]
        if not isinstance(tensor, cst.SimpleString) or name not in _LOSS_NAMES:
            missing.append(hook.tree.code(label)[1:-1])
    return missing


def _comprehended(node: cst.DictComp) -> cst.List | cst.Tuple | None:
    """The list in ``{x: x for x in [...]}``."""
    names = (node.key, node.value, node.for_in.target)
    listed = node.for_in.iter
    if (
        len({n.value for n in names if isinstance(n, cst.Name)}) == 1
        and all(isinstance(n, cst.Name) for n in names)
        and isinstance(listed, (cst.List, cst.Tuple))
        and not node.for_in.ifs
    ):
        return listed
    return None


def _counter(hook: _Hook, found: StockHooks) -> _Read:
    given = hook.given(_COUNTER)
    differences = []
    if any(not is_none(given.get(n)) for n in ("output_dir", "summary_writer")):
        message = (
            "StepCounterHook wrote event files of its own; the loop prints steps/s"
        )
        differences.append(hook.note(message))
    if hook.text(given, "every_n_secs") is not None:
        differences.append(hook.note(f"StepCounterHook {_BY_TIME}"))
    steps = hook.text(given, "every_n_steps") or "100"
    return replace(found, rate_steps=steps), differences


def _stop_at(hook: _Hook, found: StockHooks) -> _Read:
    given = hook.given(_STOP)
    steps, last = hook.text(given, "num_steps"), hook.text(given, "last_step")
    if (steps is None) == (last is None):
        raise hook.stop("`StopAtStepHook` takes one of num_steps and last_step")
    return replace(found, num_steps=steps, last_step=last), []


_STOCK_HOOKS: dict[str, Callable[[_Hook, StockHooks], _Read]] = {
    "LoggingTensorHook": _logging,
    "StepCounterHook": _counter,
    "StopAtStepHook": _stop_at,
}
_FOLDERS = ("tf.train", "tf.estimator")


def read_stock_hook(
    tree: Tree,
    call: cst.Call,
    symbol: str,
    found: StockHooks,
) -> tuple[StockHooks, list[Difference], list[Statement]] | None:
    """What one more hook adds, with statements that only it needs.

    None when it is no stock hook known here.
    """
    folder, _, name = symbol.rpartition(".")
    if name not in _STOCK_HOOKS or folder not in _FOLDERS:
        return None
    reader = _STOCK_HOOKS[name]
    hook = _Hook(tree, call, symbol)
    asked, differences = reader(hook, found)
    return asked, differences, hook.drop
