"""Optimizers, schedules and losses of functions that a program's models call."""

from __future__ import annotations

import re
from dataclasses import replace

import libcst as cst

from ...code.data import is_data
from .code import Refused
from .losses import SIGNATURES as LOSSES
from .losses import SUMMED, loss
from .optimizers import CLIP, CLIP_PARAMETERS, TOGETHER, clipping, optimizer
from .optimizers import SIGNATURES as OPTIMIZERS
from .page import Page
from .schedules import SIGNATURES as SCHEDULES
from .schedules import schedule
from .slices import GLOBAL_STEPS
from .tidy import with_casts
from .word import Handler, Word, arguments, in_sight, placed, plain, taken

_STEP = "STEP_ARGUMENT"
_RATE = "LEARNING_RATE_ARGUMENT"
_GATHERED = re.compile(r"get_total_loss|get_losses|GraphKeys\.LOSSES\b|add_loss\b")
# Optimizers that stand in other tables, or are of model functions alone.
_ELSEWHERE = ("tf.contrib.", "tf.keras.")
# What a Task names its optimizer by, once it stands in the file.
_OF_TASKS = re.compile(
    r"tf_keras\.optimizers\.\w+|Momentum|RMSProp|Adadelta|Ftrl|ProximalAdagrad|LazyAdam"
    r"|DecayedAdam"
    r"|RMSprop"
)
_ROWS = ("embedding", "gather", "feature_column")


def _optimizer(page: Page, word: Word) -> None:
    """The optimizer of Keras that takes the same steps."""
    call, args = in_sight(page, word, OPTIMIZERS[word.symbol])
    given = {name: plain(page, one.value) for name, one in args.items()}
    rate = args.get("learning_rate")
    if rate is not None:
        given["learning_rate"] = _RATE
    plain_rate = (cst.Float, cst.Integer, cst.Attribute, cst.Subscript)
    fixed = rate is None or isinstance(page.value(rate.value), plain_rate)
    rows = page.says(*_ROWS)
    code = optimizer(word.symbol, given, schedule=not fixed, rows=rows)
    page.forget(word.node)
    clip = _clipping(page, call)
    whole = call
    if clip is not None:
        whole, norm = clip
        try:
            code = clipping(code, plain(page, norm))
        except Refused as refused:
            why = f"`{page.source(whole.func)}` ({{}}): {refused}"
            page.refused_if_it_stays[whole] = why
    placed(page, whole, code, {_RATE: rate.value} if rate is not None else None)


def _clipping(
    page: Page, node: cst.CSTNode
) -> tuple[cst.Call, cst.BaseExpression] | None:
    """The call that makes an optimizer clip its gradients, and their norm."""
    holder = page.parent(node)
    outer = page.parent(holder) if isinstance(holder, cst.Arg) else None
    if not isinstance(outer, cst.Call) or page.symbol(outer.func) != CLIP:
        return None
    args = arguments(page, outer, CLIP_PARAMETERS) or {}
    if args.keys() != {*CLIP_PARAMETERS} or args["optimizer"] is not holder:
        return None
    return outer, args["clip_norm"].value


def _clip(page: Page, word: Word) -> None:
    """Is changed with the optimizer in it, or clips one that was made before."""
    call, args = in_sight(page, word, CLIP_PARAMETERS, CLIP_PARAMETERS[1])
    made, norm = (args[name].value for name in CLIP_PARAMETERS)
    inner = page.source(made.func) if isinstance(made, cst.Call) else ""
    if isinstance(made, cst.Call) and page.symbol(made.func) in OPTIMIZERS:
        page.forget(word.node)
        return
    page.note(word.node, TOGETHER)
    if isinstance(made, cst.Call) and inner.startswith("tf_keras.optimizers."):
        page.add_argument(made, "global_clipnorm=", norm)
        page.put(call, made)
    else:
        page.rename(word.node, page.take("clipped_by_norm"))


def _mixed(page: Page, word: Word) -> None:
    """TensorFlow 1 took a step again whose gradients were too large for float16."""
    page.note(word.node, "counts steps that are skipped while the loss scale is found")


def _schedule(page: Page, word: Word) -> None:
    """The schedule of Keras, which optimizers ask for the rate of a step."""
    call = word.call
    known = SCHEDULES[word.symbol]
    args = None if call is None or word.stays else arguments(page, call, known)
    step = "x" if "x" in known else "global_step"
    if call is None or args is None or step not in args:
        return
    counted = _is_step(page, args[step])
    if counted and not _is_rate(page, call):
        page.refuse(word.node, f"`{word.symbol}` ({{}}) is no rate of an optimizer")
        return
    given = {name: plain(page, one.value) for name, one in args.items()}
    given.pop(step)
    code = schedule(word.symbol, given)
    page.forget(word.node)
    if not counted:
        # The rate of a step that the caller names.
        code = replace(code, text=f"{code.text}({_STEP})")
        placed(page, call, code, {_STEP: args[step].value})
        return
    page.drop_made(args[step].value)
    made = page.value(args[step].value)
    if isinstance(made, cst.Call):
        page.forget(made.func)
        page.rewritten.add(made)
    placed(page, call, code)


def _loss(page: Page, word: Word) -> None:
    """A loss, where nothing asks for those that were gathered."""
    call = word.call
    args = None if call is None else arguments(page, call, LOSSES[word.symbol])
    gathered = any(_GATHERED.search(one.source.text) for one in page.files)
    if call is None or args is None or word.stays or gathered:
        return
    labels = args.get("labels") or args.get("onehot_labels")
    learned = labels is None or not is_data(page, labels.value)
    texts = {name: with_casts(plain(page, one.value)) for name, one in args.items()}
    code = loss(word.symbol, texts, learned=learned)
    if SUMMED in code.notes:
        why = "that is a sum is made in a function: make it in the model_fn"
        page.refuse(word.node, f"a loss ({{}}) {why}")
    page.forget(word.node)
    page.rewritten.add(call)
    placed(page, call, code)


def _is_step(page: Page, arg: cst.Arg | None) -> bool:
    """The global step, and not a step of the caller's."""
    value = page.value(arg.value) if arg is not None else None
    return isinstance(value, cst.Call) and page.symbol(value.func) in GLOBAL_STEPS


def _is_rate(page: Page, node: cst.CSTNode, depth: int = 0) -> bool:
    """All that is done with a value is that an optimizer gets it."""
    holder = page.parent(node)
    if isinstance(holder, cst.Arg):
        call = page.parent(holder)
        return isinstance(call, cst.Call) and (
            page.symbol(call.func) in OPTIMIZERS
            or _OF_TASKS.fullmatch(page.source(call.func)) is not None
        )
    if isinstance(holder, cst.Assign) and len(holder.targets) == 1:
        target = holder.targets[0].target
        named = target.value if isinstance(target, cst.Name) else ""
        reads = [
            one
            for one in page.reads(holder, named)
            if node not in (one, *page.ancestors(one))
        ]
        return bool(reads) and all(_is_rate(page, one, depth) for one in reads)
    function = page.function(node)
    if isinstance(holder, cst.Return) and isinstance(function, cst.FunctionDef):
        name = function.name.value
        if depth > 2 or any(name in one.source.text for one in page.beside):
            return False
        calls = [page.parent(one) for one in page.loads(name)]
        return bool(calls) and all(
            isinstance(one, cst.Call) and _is_rate(page, one, depth + 1)
            for one in calls
        )
    return False


WORDS: dict[str, Handler] = {
    **{name: _optimizer for name in OPTIMIZERS if not name.startswith(_ELSEWHERE)},
    CLIP: _clip,
    "tf.train.experimental.enable_mixed_precision_graph_rewrite": taken(
        "mixed_precision", _mixed
    ),
    **{name: _loss for name in LOSSES if not name.startswith("tf.nn.")},
    **{name: _schedule for name in SCHEDULES if name.startswith("tf.train.")},
}
