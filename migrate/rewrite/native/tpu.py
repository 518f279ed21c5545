"""TPUEstimators that train without a TPU."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

import libcst as cst

from ...code.arguments import is_none
from ...code.edits import changed
from ...code.statements import assigned
from ...code.tree import Tree, only_small, statements_of, walk
from ...project.facts import ParsedModule, ProjectFacts
from .config import fields
from .page import Page
from .word import Handler, Odd, Word, arguments, keyword, taken

_ESTIMATOR = (
    *("model_fn", "model_dir", "config", "params", "use_tpu", "train_batch_size"),
    *("eval_batch_size", "predict_batch_size", "batch_axis", "eval_on_tpu"),
    *("export_to_tpu", "export_to_cpu", "warm_start_from"),
)
_KEPT = ("model_fn", "model_dir", "config", "params", "warm_start_from")
_ALONE = "trains without a TPU, whatever `use_tpu` says"
_SIZES = {
    "train": "train_batch_size",
    "evaluate": "eval_batch_size",
    "predict": "predict_batch_size",
}
_FLAG = re.compile(r"""(?P<not>not )?[\w.\["']*use_?tpu["'\]]*""")
_OF_TPU = re.compile(r"\.tpu\.\w|\.TPU")
_CONFIG = ("tpu_config", "evaluation_master", "master", "cluster")


def without_tpu_branches(
    parsed: ParsedModule, facts: ProjectFacts
) -> tuple[ParsedModule, tuple[tuple[int, str], ...]]:
    """The file without what it does on a TPU where it tests a flag, and a note of it.

    ``if FLAGS.use_tpu:`` has other words for an Estimator or what it is given.
    """
    tree = Tree(parsed.module, parsed.resolver)
    edits: dict[cst.CSTNode, object] = {}
    for node in parsed.each(cst.If):
        flag = _FLAG.fullmatch(tree.code(node.test))
        if flag is not None:
            other = node.orelse.body if isinstance(node.orelse, cst.Else) else None
            on, off = (other, node.body) if flag["not"] else (node.body, other)
            if on is not None and _is_for_tpu(tree, on, ends=off is None):
                edits[node] = partial(_left, body=off is node.body)
    notes = tuple((tree.line(one), _ALONE) for one in [*edits][:1])
    return (changed(parsed, facts, edits) if edits else parsed), notes


def _left(now: cst.If, *, body: bool) -> Sequence[cst.BaseStatement]:
    """The statements of the branch that stays."""
    block = now.body if body else now.orelse and now.orelse.body
    return statements_of(block) if isinstance(block, cst.IndentedBlock) else []


def _is_for_tpu(tree: Tree, block: cst.BaseSuite, *, ends: bool) -> bool:
    """A branch makes what is only for a TPU, and returns where it has to end."""
    lines = statements_of(block) if isinstance(block, cst.IndentedBlock) else []
    symbols = [tree.symbol(one.func) or "" for one in walk(block, cst.Call)]
    if lines and all(assigned(one) == ["host_call"] for one in lines):
        return True  # nobody but a TPU reads it
    returns = [isinstance(only_small(one), cst.Return) for one in lines[-1:]]
    return any(map(_OF_TPU.search, symbols)) and (not ends or True in returns)


def _estimator(page: Page, word: Word) -> None:
    """A Trainer whose params have the size of a batch, as TPUEstimator gave it."""
    call = word.call
    args = None if call is None else arguments(page, call, _ESTIMATOR)
    if call is None or args is None or word.stays:
        raise Odd(word.node, "a TPUEstimator ({}) is not made in plain sight")
    use = args.get("use_tpu")
    if use is None or (isinstance(use.value, cst.Name) and use.value.value == "True"):
        raise Odd(word.node, "a TPUEstimator ({}) trains on a TPU: pass use_tpu=False")
    page.rename(word.node, page.take("Trainer"))
    kept = [name for name in args if name in _KEPT]
    for name, arg in args.items():
        if name not in _KEPT:
            page.drop_argument(call, arg)
        elif name == "model_fn" and arg.keyword is not None:
            if name == kept[0]:
                page.take_off_keyword(arg)
            else:
                page.rename_keyword(arg, "make_task")
    page.note(word.node, _ALONE)
    sizes = {
        method: page.source(args[name].value)
        for method, name in _SIZES.items()
        if name in args and not is_none(args[name].value)
    }
    if sizes:
        _sized(page, call, args.get("params"), sizes)


def _sized(
    page: Page, call: cst.Call, params: cst.Arg | None, sizes: dict[str, str]
) -> None:
    """The sizes of batches, in params and where others than the first are asked for."""
    first = sizes.get("train") or next(iter(sizes.values()))
    key = page.string("batch_size")
    given = None if params is None or is_none(params.value) else params
    if given is None:
        if params is not None:
            page.drop_argument(call, params)
        page.add_argument(call, f"params={{{key}: {first}}}")
    holder = page.parent(call)
    shown = "" if given is None else page.source(given.value)
    others = {method: size for method, size in sizes.items() if size != first}
    if given is not None and isinstance(given.value, cst.Dict) and others:
        # Said twice below: it gets a name.
        line = page.statement(call)
        shown, written = page.free("params", "model_params"), shown
        page.put_before(line, f"{shown} = {written}\n{page.indent(line)}")
        page.put(given.value, f"{{**{shown}, {key}: {first}}}")
    elif given is not None:
        page.put(given.value, "dict(", given.value, f", batch_size={first})")
    name = (
        page.source(holder.targets[0].target) if isinstance(holder, cst.Assign) else ""
    )
    if not others:
        return
    reads = page.reads(call, name)
    for read in reads:
        attribute = page.parent(read)
        used = page.call_of(attribute) if attribute is not None else None
        if not isinstance(attribute, cst.Attribute) or used is None:
            page.refuse(
                read, "a TPUEstimator ({}) is handed about: give one batch size"
            )
        elif attribute.attr.value in others:
            size = others[attribute.attr.value]
            extra = f"**{shown}, " if shown else ""
            _called(page, used, f"{{{extra}{key}: {size}}}")
    if not reads:
        page.refuse(call, "a TPUEstimator ({}) is handed about: give one batch size")


def _called(page: Page, call: cst.Call, params: str) -> None:
    """``lambda: input_fn(params)`` in the place of an input function."""
    for index, arg in enumerate(call.args):
        if keyword(arg) == "input_fn" or (not keyword(arg) and index == 0):
            page.put_around(arg.value, "lambda: ", f"({params})")


def _config(page: Page, word: Word) -> None:
    if word.call is None:
        return
    for index, arg in enumerate(word.call.args):
        if keyword(arg) in _CONFIG or (not keyword(arg) and index < len(_CONFIG)):
            page.drop_argument(word.call, arg)
            page.drop_made(arg.value)
    fields(page, word.call, ())


_HOMES = ("tf.contrib.tpu", "tf.estimator.tpu", "tf.compat.v1.estimator.tpu")

WORDS: dict[str, Handler] = {
    **{f"{home}.TPUEstimator": _estimator for home in _HOMES},
    **{f"{home}.RunConfig": taken("RunConfig", _config) for home in _HOMES},
}
