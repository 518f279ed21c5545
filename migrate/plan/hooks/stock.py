"""TensorFlow's own hooks: what each of them asks of a loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import libcst as cst

from ..code.arguments import UnknownArguments, is_none, match_arguments
from ..code.tree import Statement, Tree
from ..program import Difference, StockHooks
from ..sites import Blocked

__all__ = [
    "MODEL_DIR",
    "STOCK_HOOKS",
    "is_model_dir",
    "is_stock_hook",
    "read_stock_hook",
]

# Stands for the directory of the program's Estimator.
MODEL_DIR = "__model_dir__"

_LOGGING = ("tensors", "every_n_iter", "every_n_secs", "at_end", "formatter")
_COUNTER = ("every_n_steps", "every_n_secs", "output_dir", "summary_writer")
_STOP = ("num_steps", "last_step")
_SAVER = (
    "checkpoint_dir",
    "save_secs",
    "save_steps",
    "saver",
    "checkpoint_basename",
    "scaffold",
    "listeners",
)
_NO_CHANGE = (
    "estimator",
    "metric_name",
    "max_steps",
    "eval_dir",
    "min_steps",
    "run_every_secs",
    "run_every_steps",
)
_CROSSED = (
    "estimator",
    "metric_name",
    "threshold",
    "eval_dir",
    "min_steps",
    "run_every_secs",
    "run_every_steps",
)
_NAN = ("loss_tensor", "fail_on_nan_loss")
_PROFILER = ("save_steps", "save_secs", "output_dir", "show_dataflow", "show_memory")
# max_steps_without_decrease or ..._increase
_RENAMED = {
    "max_steps_without_decrease": "max_steps",
    "max_steps_without_increase": "max_steps",
}
_LOSS_NAMES = ("loss", "loss:0")
_SUMMARY = (
    "save_steps",
    "save_secs",
    "output_dir",
    "summary_writer",
    "scaffold",
    "summary_op",
)
_BY_TIME = "went by seconds; the loop prints every so many steps"


class _Hook:
    """One stock hook in a list of hooks."""

    def __init__(
        self, tree: Tree, call: cst.Call, symbol: str, loss: str | None = None
    ) -> None:
        self.tree = tree
        # The variable that holds the loss, in a model_fn.
        self.loss = loss
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

    def refuse(self, given: dict[str, cst.BaseExpression], *names: str) -> None:
        for name in names:
            if not is_none(given.get(name)):
                raise self.stop(f"`{self.symbol}({name}=)` has no loop equivalent")

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
        if isinstance(tensor, cst.Name) and tensor.value == hook.loss:
            continue
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


def _waiter(hook: _Hook, found: StockHooks) -> _Read:
    hook.given(("wait_until_step",))
    message = (
        "GlobalStepWaiterHook let a worker begin later; the workers of a loop take "
        "every step together"
    )
    return found, [hook.note(message)]


def _summary(hook: _Hook, found: StockHooks) -> _Read:
    hook.given(_SUMMARY)
    message = "SummarySaverHook: the summaries of the graph are not written any more"
    return found, [Difference("TFM141", hook.line, message, needs_review=True)]


def _final(hook: _Hook, found: StockHooks) -> _Read:
    raise hook.stop("`FinalOpsHook` fetches tensors of a graph at the end")


def _feed(hook: _Hook, found: StockHooks) -> _Read:
    raise hook.stop(
        "`FeedFnHook` feeds placeholders of a graph: give the values by an input_fn"
    )


def _stop_at(hook: _Hook, found: StockHooks) -> _Read:
    given = hook.given(_STOP)
    steps, last = hook.text(given, "num_steps"), hook.text(given, "last_step")
    if (steps is None) == (last is None):
        raise hook.stop("`StopAtStepHook` takes one of num_steps and last_step")
    return replace(found, num_steps=steps, last_step=last), []


def _nan(hook: _Hook, found: StockHooks) -> _Read:
    given = hook.given(_NAN)
    tensor = given.get("loss_tensor")
    name = hook.tree.code(tensor)[1:-1] if isinstance(tensor, cst.SimpleString) else ""
    if isinstance(tensor, cst.Name) and tensor.value == hook.loss:
        name = _LOSS_NAMES[0]
    if name not in _LOSS_NAMES:
        raise hook.stop("`NanTensorHook` watches a tensor that is not seen here")
    fails = hook.text(given, "fail_on_nan_loss") or "True"
    if fails not in ("True", "False"):
        raise hook.stop("`NanTensorHook(fail_on_nan_loss=)` is not seen here")
    return replace(found, nan="raise" if fails == "True" else "stop"), []


def _saver(hook: _Hook, found: StockHooks) -> _Read:
    given = hook.given(_SAVER)
    hook.refuse(given, "saver", "scaffold", "listeners")
    if hook.text(given, "checkpoint_basename") not in (None, '"model.ckpt"'):
        raise hook.stop("`CheckpointSaverHook(checkpoint_basename=)`")
    directory = hook.text(given, "checkpoint_dir")
    if is_model_dir(given.get("checkpoint_dir")):
        directory = MODEL_DIR
    steps, seconds = hook.text(given, "save_steps"), hook.text(given, "save_secs")
    if directory is None or (steps is None) == (seconds is None) or found.save_dir:
        raise hook.stop("`CheckpointSaverHook` in a way not understood")
    asked = replace(found, save_dir=directory, save_steps=steps, save_seconds=seconds)
    return asked, []


def _profiler(hook: _Hook, found: StockHooks) -> _Read:
    given = hook.given(_PROFILER)
    hook.refuse(given, "save_secs")
    steps = hook.text(given, "save_steps")
    if steps is None or found.profile_steps is not None:
        raise hook.stop("`ProfilerHook` in a way not understood")
    directory = hook.text(given, "output_dir")
    if directory is None or directory in ("''", '""'):
        directory = '"."'
    other = Difference(
        "TFM143",
        hook.line,
        "ProfilerHook wrote Chrome traces; the loop writes profiles for TensorBoard",
        needs_review=True,
    )
    return replace(found, profile_steps=steps, profile_dir=directory), [other]


def _lower(hook: _Hook, found: StockHooks, sign: str = "<") -> _Read:
    given = hook.given(_CROSSED)
    hook.refuse(given, "eval_dir")
    metric = given.get("metric_name")
    threshold = hook.text(given, "threshold")
    if not isinstance(metric, cst.SimpleString) or threshold is None:
        raise hook.stop("which figure stops the training is not seen")
    first = hook.text(given, "min_steps") or "0"
    rule = (hook.tree.code(metric), sign, threshold, first)
    if found.evaluated:
        raise hook.stop("two hooks that stop early")
    return replace(found, crossed=(rule,)), [_looked(hook)]


def _higher(hook: _Hook, found: StockHooks) -> _Read:
    return _lower(hook, found, ">")


def _looked(hook: _Hook) -> Difference:
    return Difference(
        "TFM137",
        hook.line,
        "early stopping looks at each evaluation as it is made; the hook read them "
        "from event files, every 60 seconds by default",
    )


def _no_decrease(hook: _Hook, found: StockHooks, smaller: bool = True) -> _Read:
    renamed = [
        argument.with_changes(keyword=cst.Name(_RENAMED[argument.keyword.value]))
        if argument.keyword is not None and argument.keyword.value in _RENAMED
        else argument
        for argument in hook.call.args
    ]
    call = hook.call.with_changes(args=renamed)
    try:
        given = match_arguments(call, _NO_CHANGE)
    except UnknownArguments as problem:
        raise hook.stop(f"the hook `{hook.symbol}` with {problem}") from None
    hook.refuse(given, "eval_dir")
    metric = given.get("metric_name")
    if not isinstance(metric, cst.SimpleString) or "max_steps" not in given:
        raise hook.stop("which figure stops the training is not seen")
    rule = (
        hook.tree.code(metric),
        smaller,
        hook.tree.code(given["max_steps"]),
        hook.text(given, "min_steps") or "0",
    )
    if found.evaluated:
        raise hook.stop("two hooks that stop early")
    return replace(found, no_change=(rule,)), [_looked(hook)]


def _no_increase(hook: _Hook, found: StockHooks) -> _Read:
    return _no_decrease(hook, found, smaller=False)


STOCK_HOOKS: dict[str, Callable[[_Hook, StockHooks], _Read]] = {
    "CheckpointSaverHook": _saver,
    "FeedFnHook": _feed,
    "FinalOpsHook": _final,
    "GlobalStepWaiterHook": _waiter,
    "LoggingTensorHook": _logging,
    "NanTensorHook": _nan,
    "ProfilerHook": _profiler,
    "StepCounterHook": _counter,
    "StopAtStepHook": _stop_at,
    "SummarySaverHook": _summary,
    "stop_if_higher_hook": _higher,
    "stop_if_lower_hook": _lower,
    "stop_if_no_decrease_hook": _no_decrease,
    "stop_if_no_increase_hook": _no_increase,
}
_FOLDERS = (
    "tf.train.",
    "tf.estimator.",
    "tf.estimator.experimental.",
    "tf.contrib.estimator.",
)


def is_stock_hook(symbol: str) -> bool:
    """The canonical name is one of a hook that is known here."""
    folder, _, name = symbol.rpartition(".")
    return name in STOCK_HOOKS and f"{folder}." in _FOLDERS


def is_model_dir(node: cst.CSTNode | None) -> bool:
    """``estimator.model_dir``."""
    return (
        isinstance(node, cst.Attribute)
        and node.attr.value == "model_dir"
        and isinstance(node.value, (cst.Name, cst.Attribute))
    )


def read_stock_hook(
    tree: Tree,
    call: cst.Call,
    symbol: str,
    found: StockHooks,
    loss: str | None = None,
) -> tuple[StockHooks, list[Difference], list[Statement]] | None:
    """What one more hook adds, with statements that only it needs.

    None when it is no stock hook known here. ``loss`` names the variable of the loss
    where the hook stands in a model_fn.
    """
    if not is_stock_hook(symbol):
        return None
    reader = STOCK_HOOKS[symbol.rpartition(".")[2]]
    hook = _Hook(tree, call, symbol, loss)
    asked, differences = reader(hook, found)
    return asked, differences, hook.drop
