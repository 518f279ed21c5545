"""What changes nothing is left out before layers are made of calls."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from ..plan.code.arguments import UnknownArguments, match_arguments
from ..plan.code.tree import Tree, only_small
from ..project.facts import ParsedModule, ProjectFacts
from ..project.parsing import parse
from ..project.positions import code_of

__all__ = ["without_idle_words"]

_DROPOUT = ("inputs", "rate", "noise_shape", "seed", "training", "name")


def without_idle_words(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file whose dropout has no noise shape where it drops nothing.

    The mode as third argument is taken for the shape, and nothing is ever dropped. And
    without a TPU there is nothing that an optimizer adds up over shards.
    """
    tree = Tree(parsed.module, parsed.resolver)
    gone: set[cst.CSTNode] = set()
    plain: set[cst.CSTNode] = set()
    for node in parsed.nodes:
        symbol = tree.symbol(node.func) if isinstance(node, cst.Call) else None
        if not isinstance(node, cst.Call) or symbol is None:
            continue
        if symbol.endswith("tpu.CrossShardOptimizer") and node.args:
            plain.add(node)
        if symbol == "tf.layers.dropout":
            try:
                given = match_arguments(node, _DROPOUT)
            except UnknownArguments:
                continue
            if "training" not in given and "seed" not in given:
                shape = given.get("noise_shape")
                gone.update(one for one in node.args if one.value is shape)
    if not gone and not plain:
        return parsed
    text = code_of(parsed.module.visit(_Without(gone, plain)))
    return facts.module_of(replace(parsed.source, text=text, module=parse(text)))


class _Without(cst.CSTTransformer):
    def __init__(self, gone: set[cst.CSTNode], plain: set[cst.CSTNode]) -> None:
        self.gone = gone
        # Calls in whose places their first arguments come.
        self.plain = plain
        # Tests that are further branches of others.
        self.branches: set[cst.CSTNode] = set()

    def visit_If(self, node: cst.If) -> None:
        if node.orelse is not None:
            self.branches.add(node.orelse)

    def leave_Call(
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        if original_node in self.plain:
            return updated_node.args[0].value
        kept = [
            new
            for old, new in zip(original_node.args, updated_node.args, strict=True)
            if old not in self.gone
        ]
        if len(kept) < len(updated_node.args) and kept:
            kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            return updated_node.with_changes(args=kept)
        return updated_node

    def leave_SimpleStatementLine(
        self,
        original_node: cst.SimpleStatementLine,
        updated_node: cst.SimpleStatementLine,
    ) -> cst.SimpleStatementLine | cst.RemovalSentinel:
        """``optimizer = optimizer``"""
        old, small = only_small(original_node), only_small(updated_node)
        if isinstance(old, cst.Assign) and old.value in self.plain:
            assert isinstance(small, cst.Assign)
            target = small.targets[0].target
            if len(small.targets) == 1 and target.deep_equals(small.value):
                return cst.RemoveFromParent()
        return updated_node

    def leave_If(
        self, original_node: cst.If, updated_node: cst.If
    ) -> cst.If | cst.RemovalSentinel:
        if updated_node.body.body:
            return updated_node
        if updated_node.orelse is None and original_node not in self.branches:
            return cst.RemoveFromParent()
        nothing = cst.SimpleStatementLine([cst.Pass()])
        return updated_node.with_changes(body=cst.IndentedBlock([nothing]))
