"""Optimizers that are made in one line, and clip or minimize in the next."""

from __future__ import annotations

from itertools import pairwise

import libcst as cst

from ...code.edits import Put, changed
from ...code.statements import binds, loads
from ...code.tree import Statement, Tree, only_small, statements_of, walk
from ...project.facts import ParsedModule, ProjectFacts
from .optimizers import CLIP


def with_clipping_in_one_call(
    parsed: ParsedModule, facts: ProjectFacts
) -> ParsedModule:
    """The file with ``x = clip(make(), norm)`` for ``x = make()`` and ``x = clip(x)``.

    What an optimizer is made of is then seen where an Estimator is given it.
    """
    if "clip_gradients_by_norm" not in parsed.source.text:
        return parsed
    tree = Tree(parsed.module, parsed.resolver)
    edits: dict[cst.CSTNode, object] = {}
    for block in walk(parsed.module):
        if not isinstance(block, (cst.Module, cst.IndentedBlock)):
            continue
        lines = statements_of(block)
        for first, second in pairwise(lines):
            made, clips = _assigned(first), _assigned(second)
            if made is None or clips is None or not isinstance(clips.value, cst.Call):
                continue
            args = clips.value.args
            name = made.targets[0].target
            if (
                tree.symbol(clips.value.func) == CLIP
                and args
                and len(made.targets) == len(clips.targets) == 1
                and isinstance(made.value, cst.Call)
                and name.deep_equals(clips.targets[0].target)
                and name.deep_equals(args[0].value)
            ):
                edits |= {first: [], args[0].value: made.value}
    return changed(parsed, facts, edits) if edits else parsed


def with_train_ops_in_one_call(
    parsed: ParsedModule, facts: ProjectFacts
) -> ParsedModule:
    """The file whose functions for ``train_op_fn=`` return all of it in one line.

    What they make without the loss is made before the statement that asks for them.
    """
    if "train_op_fn" not in parsed.source.text:
        return parsed
    tree = Tree(parsed.module, parsed.resolver)
    edits: dict[cst.CSTNode, object] = {}
    for arg in parsed.each(cst.Arg):
        if arg.keyword is None:
            continue
        function = tree.resolver.definition(arg.value)
        if arg.keyword.value != "train_op_fn" or not isinstance(
            function, cst.FunctionDef
        ):
            continue
        lines = [*statements_of(function.body)] if function not in edits else []  # type: ignore[arg-type]
        moved = _without_loss(tree, function, arg)
        lines = [one for one in lines if one not in moved]
        while len(lines) > 1:
            made, last = _assigned(lines[-2]), only_small(lines[-1])
            name = made.targets[0].target if made is not None else None
            if made is None or not isinstance(last, cst.Return):
                break
            reads = [n for n in walk(last, cst.Name) if n.value == _value(name)]
            if len(reads) != 1 or len(made.targets) > 1:
                break
            old = lines.pop()
            lines[-1] = old.visit(Put({reads[0]: made.value}, old))  # type: ignore[assignment]
        body = function.body.with_changes(body=lines)
        if moved:
            statement = tree.statement(arg)
            edits[function] = None
            edits[statement] = [*moved, function.with_changes(body=body), statement]
        elif len(lines) < len(function.body.body):
            edits[function.body] = body
    return changed(parsed, facts, edits) if edits else parsed


def _without_loss(
    tree: Tree, function: cst.FunctionDef, asked: cst.Arg
) -> list[Statement]:
    """The statements of a function that do not need what it is given."""
    outer = tree.function(asked)
    if outer is None or len(tree.loads_of(function)) != 1 or function.decorators:
        return []
    late = {one.name.value for one in function.params.params}
    read_before: set[str] = set()
    found = []
    for line in statements_of(function.body):  # type: ignore[arg-type]
        small, code = only_small(line), tree.code(line)
        read, bound = loads(tree, line), binds(line)
        stays = not isinstance(small, cst.Assign) and not isinstance(line, cst.If)
        stays = stays or "UPDATE_OPS" in code or any(walk(line, cst.Return))
        if stays or (read | bound) & late or bound & read_before:
            late |= bound
            read_before |= read
        else:
            found.append(line)
    names = {name for line in found for name in binds(line)}
    return [] if names & {*tree.resolver.scopes.opened[outer].bindings} else found


def _value(node: cst.CSTNode | None) -> str | None:
    return node.value if isinstance(node, cst.Name) else None


def _assigned(statement: Statement) -> cst.Assign | None:
    small = only_small(statement)
    return small if isinstance(small, cst.Assign) else None
