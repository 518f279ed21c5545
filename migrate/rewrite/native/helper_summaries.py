"""Summaries of functions that a Task calls: they have the writer that it has."""

from __future__ import annotations

import libcst as cst

from ...code.tree import walk
from ...project.reached import reached
from .page import Page
from .said import SUMMARY
from .word import Handler, Word, arguments

_OF_KERAS = ("tf_keras.Model", "tf_keras.layers.Layer")


def _written(page: Page, word: Word) -> None:
    if page.for_tf2:
        return
    kind = word.symbol.rpartition(".")[2]
    args = arguments(page, word.call, SUMMARY[kind]) if word.call is not None else None
    if word.call is None or args is None or word.stays:
        why = "is not called in plain sight"
    elif not {"collections", "family"}.isdisjoint(args):
        why = "has a family or collections"
    elif not _is_of_task(page, word.call):
        why = "is no part of a model"
    else:
        for name in {"tensor", "values"} & {*args}:
            if args[name].keyword is not None:
                page.rename_keyword(args[name], "data")
        word.spell(page, f"__tf2__.summary.{kind}")
        return
    page.refused_if_it_stays[word.node] = f"`{word.symbol}` ({{}}) {why}"


def _is_of_task(page: Page, call: cst.Call) -> bool:
    """A Task or a model calls the function around, or what calls that."""
    around = page.function(call)
    functions: dict[str, set[str]] = {}
    told: set[str] = set()
    for one in page.files:
        code = one.module.code_for_node
        for node in one.each(cst.FunctionDef, cst.ClassDef):
            if isinstance(node, cst.FunctionDef):
                functions.setdefault(node.name.value, set()).update(_names(node))
            elif isinstance(node, cst.ClassDef):
                bases = {code(base.value).strip() for base in node.bases}
                if any(base.endswith("Task") for base in bases) or bases & {*_OF_KERAS}:
                    told |= _names(node)
    return isinstance(around, cst.FunctionDef) and any(
        name == around.name.value
        for name in reached(told, lambda one: functions.get(one, ()))
    )


def _names(node: cst.CSTNode) -> set[str]:
    return {one.value for one in walk(node, cst.Name)}


WORDS: dict[str, Handler] = {f"tf.summary.{kind}": _written for kind in SUMMARY}
