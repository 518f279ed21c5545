"""Batch normalization that is called once to train and once to infer, and chosen from.

TensorFlow 1 took a plain bool for `is_training`, so programs wrote two calls that share
their variables and let `tf.cond` choose. A layer of Keras is told by its call.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from ...code.edits import changed
from ...code.tree import Tree
from ...project.facts import ParsedModule, ProjectFacts

_FLAGS = {
    "tf.contrib.layers.batch_norm": "is_training",
    "tf.contrib.slim.batch_norm": "is_training",
    "tf.layers.batch_normalization": "training",
}
# What the two calls need not have in common.
_OWN = (*_FLAGS.values(), "reuse")


def with_norm_pairs_joined(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file with one call in the place of each pair.

    Where the mode chooses, TF 1.15 prunes the other call, with what it would update.
    """
    tree = Tree(parsed.module, parsed.resolver)
    places: dict[cst.CSTNode, cst.CSTNode | None] = {}
    for pair in filter(
        None, (_pair(tree, one) for one in tree.calls(parsed.module, ["tf.cond"]))
    ):
        places |= {pair.choice: pair.joined(), **dict.fromkeys(pair.lines)}
    return changed(parsed, facts, places) if places else parsed


@dataclass(frozen=True)
class _Pair:
    """Two calls, the statements of them, and the `tf.cond` that chooses."""

    choice: cst.Call
    flag: str
    chosen: cst.BaseExpression
    trains: cst.Call
    lines: tuple[cst.CSTNode, ...]

    def joined(self) -> cst.Call:
        """The call that is told whether it trains."""
        args = [
            one.with_changes(value=self.chosen) if _word(one) == self.flag else one
            for one in self.trains.args
            if _word(one) != "reuse"
        ]
        args[-1] = args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return self.trains.with_changes(args=args)


def _pair(tree: Tree, node: cst.Call) -> _Pair | None:
    """What a call of `tf.cond` chooses from, where it is such a pair."""
    chosen, *branches = [one.value for one in node.args]
    made = [one for one in (_made(tree, one) for one in branches) if one is not None]
    if len(made) != 2:
        return None
    (first, above), (second, below) = made
    flag = _FLAGS.get(tree.symbol(first.func) or "")
    if flag is None or len(above) != len(below):
        return None
    while isinstance(chosen, cst.Call) and tree.symbol(chosen.func) == "tf.cast":
        chosen = chosen.args[0].value
    told = [
        {_word(arg): tree.code(arg.value) for arg in one.args if _word(arg) in _OWN}
        for one in (first, second)
    ]
    shared = [[*map(tree.code, (one.func, *_others(one)))] for one in (first, second)]
    if (
        shared[0] == shared[1]
        and (told[0].get(flag), told[1].get(flag)) == ("True", "False")
        and told[0].get("reuse", "None") in ("None", "False", "tf.AUTO_REUSE")
        and told[1].get("reuse") in ("True", "tf.AUTO_REUSE")
    ):
        return _Pair(node, flag, chosen, first, (*above, *below))
    return None


def _made(
    tree: Tree, branch: cst.BaseExpression
) -> tuple[cst.Call, list[cst.CSTNode]] | None:
    """The call that a branch gives, and the statement that names it if one does."""
    value = branch.body if isinstance(branch, cst.Lambda) else None
    if isinstance(value, cst.Call):
        return value, []
    bound = tree.assigned(value)
    made = bound.value if bound is not None else None
    if bound is None or not isinstance(made, cst.Call) or len(tree.uses(bound)) > 1:
        return None
    return made, [tree.statement(made)]


def _others(call: cst.Call) -> Iterator[cst.BaseExpression | cst.Arg]:
    """What is given to a call, its flags left aside."""
    for one in call.args:
        if _word(one) not in _OWN:
            yield one.with_changes(comma=cst.MaybeSentinel.DEFAULT)


def _word(argument: cst.Arg) -> str | None:
    return argument.keyword.value if argument.keyword is not None else None
