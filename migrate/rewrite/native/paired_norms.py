"""Batch normalization that is called twice, to train and not, and chosen by a flag."""

from __future__ import annotations

from typing import Any

import libcst as cst

from ...code.edits import changed
from ...code.tree import Tree, only_small, statements_of
from ...project.facts import ParsedModule, ProjectFacts

# How the function is told that it trains.
_FLAGS = {
    "tf.contrib.layers.batch_norm": "is_training",
    "tf.contrib.slim.batch_norm": "is_training",
    "tf.layers.batch_normalization": "training",
}


def with_norms_in_one_call(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file with ``batch_norm(x, is_training=flag)`` for two calls and `tf.cond`.

    TensorFlow 1.15.5 computes one of them alone where the flag is no tensor.
    """
    if "cond(" not in parsed.source.text or "batch_norm" not in parsed.source.text:
        return parsed
    tree = Tree(parsed.module, parsed.resolver)
    edits: dict[cst.CSTNode, Any] = {}
    for call in parsed.each(cst.Call):
        if tree.symbol(call.func) == "tf.cond" and len(call.args) == 3:
            edits |= _in_one(tree, call)
    return changed(parsed, facts, edits) if edits else parsed


def _in_one(tree: Tree, cond: cst.Call) -> dict[cst.CSTNode, Any]:
    names = [_given(one.value) for one in cond.args[1:]]
    block = tree.parent(tree.statement(cond))
    if None in names or not isinstance(block, cst.IndentedBlock):
        return {}
    lines = statements_of(block)
    place = lines.index(tree.statement(cond))
    both = lines[max(place - 2, 0) : place]
    made: dict[str, cst.Call] = {}
    for one in both:
        small = only_small(one)
        value = small.value if isinstance(small, cst.Assign) else None
        if isinstance(small, cst.Assign) and isinstance(value, cst.Call):
            made[tree.code(small.targets[0].target)] = value
    if {*made} != {*names} or len(both) != 2:
        return {}
    trains, stays = (made[str(name)] for name in names)
    flag = _FLAGS.get(tree.symbol(trains.func) or "")
    if flag is None or tree.symbol(stays.func) != tree.symbol(trains.func):
        return {}
    told, other = _arguments(tree, trains), _arguments(tree, stays)
    said = [told.pop(flag, ""), other.pop(flag, ""), other.pop("reuse", "")]
    if said != ["True", "False", "True"] or told.pop("reuse", "None") not in (
        *("None", "False"),
    ):
        return {}
    if told != other or any(len(tree.loads(str(name))) != 1 for name in names):
        return {}
    test = cond.args[0].value
    if isinstance(test, cst.Call) and tree.symbol(test.func) == "tf.cast":
        test = test.args[0].value
    args = [
        one.with_changes(value=test) if _key(one) == flag else one
        for one in trains.args
        if _key(one) != "reuse"
    ]
    return {cond: trains.with_changes(args=args), **dict.fromkeys(both, None)}


def _given(node: cst.BaseExpression) -> str | None:
    """The name that ``lambda: name`` gives."""
    body = node.body if isinstance(node, cst.Lambda) else None
    return body.value if isinstance(body, cst.Name) else None


def _key(arg: cst.Arg) -> str:
    return "" if arg.keyword is None else arg.keyword.value


def _arguments(tree: Tree, call: cst.Call) -> dict[str, str]:
    return {
        _key(one) or str(place): tree.code(one.value)
        for place, one in enumerate(call.args)
    }
