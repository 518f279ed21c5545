"""Arguments that change nothing are left out before layers are made of calls."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from ..plan.code.arguments import UnknownArguments, match_arguments
from ..plan.code.tree import Tree
from ..project.facts import ParsedModule, ProjectFacts
from ..project.parsing import parse
from ..project.positions import code_of

__all__ = ["without_idle_arguments"]

_DROPOUT = ("inputs", "rate", "noise_shape", "seed", "training", "name")


def without_idle_arguments(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file whose dropout has no noise shape where it drops nothing.

    The mode as third argument is taken for the shape, and nothing is ever dropped.
    """
    tree = Tree(parsed.module, parsed.resolver)
    gone: set[cst.CSTNode] = set()
    for node in parsed.nodes:
        if isinstance(node, cst.Call) and tree.symbol(node.func) == "tf.layers.dropout":
            try:
                given = match_arguments(node, _DROPOUT)
            except UnknownArguments:
                continue
            if "training" not in given and "seed" not in given:
                shape = given.get("noise_shape")
                gone.update(one for one in node.args if one.value is shape)
    if not gone:
        return parsed
    text = code_of(parsed.module.visit(_Without(gone)))
    return facts.module_of(replace(parsed.source, text=text, module=parse(text)))


class _Without(cst.CSTTransformer):
    def __init__(self, gone: set[cst.CSTNode]) -> None:
        self.gone = gone

    def leave_Call(
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        kept = [
            new
            for old, new in zip(original_node.args, updated_node.args, strict=True)
            if old not in self.gone
        ]
        if len(kept) < len(updated_node.args) and kept:
            kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            return updated_node.with_changes(args=kept)
        return updated_node
