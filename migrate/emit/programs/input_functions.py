"""Input functions that handed out tensors return their Dataset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import libcst as cst

from ...plan.code.tree import Statement, Tree, statements_of
from ...plan.sites import InputSites, MadeInput, TensorTail
from ..module.edits import Edits
from ..module.layout import fit, one_line
from ..module.names import Names
from ..module.spacing import from_comment, with_blank_lines
from ..module.template import parse_statements, unshadowed

__all__ = ["edit_input_functions"]

# A longer line of rows goes over several statements.
_LONG = 72


def edit_input_functions(
    tree: Tree,
    sites: InputSites,
    edits: Edits,
    names: Names,
    text: Callable[[str], str],
) -> None:
    """Note the edits that make every input function return a Dataset."""
    for tail in sites.tails:
        mapped = names.fresh("prepare") if tail.parameters is not None else ""
        edits.nodes[tail.block] = _ReturnDataset(tree, tail, mapped)
    for made in sites.made:
        edits.replace[made.statement] = _function(tree, made, names, text)
        if made.name is not None:
            edits.spaced.add(made.statement)


def _function(
    tree: Tree, made: MadeInput, names: Names, text: Callable[[str], str]
) -> list[Statement]:
    """``name = numpy_input_fn(...)`` as a function of that name."""
    dataset = made.dataset
    name = made.name or names.fresh("input_fn")
    rows = text(one_line(dataset.rows))
    code = f"def {name}():\n"
    if len(rows) > _LONG and dataset.labels is not None:
        taken = unshadowed(("inputs", "targets"), rows)
        first, second = (taken.get(name, name) for name in ("inputs", "targets"))
        code += f"    {first} = {text(one_line(dataset.features))}\n"
        code += f"    {second} = {text(one_line(dataset.labels))}\n"
        rows = text(replace(dataset, features=first, labels=second).rows)
    code += f"    dataset = {rows}\n"
    methods = dataset.methods
    if dataset.shuffles not in ("True", "False"):
        code += f"    if {dataset.shuffles}:\n"
        code += f"        dataset = dataset{dataset.shuffle}\n"
        methods = dataset.batches
    # The methods alone are no expression: they are put behind a name.
    batches = text(one_line(f"dataset{methods}"))
    code += f"    return {batches}\n"
    if made.name is None:
        code += f"return {name}\n"
    found = parse_statements(code)
    if made.name is None:
        found[-1] = with_blank_lines(found[-1], 1)
    column = tree.column(made.statement) - 1
    return fit(tree.module, found, column)


class _ReturnDataset:
    """Edits the block in which an iterator's tensors were returned."""

    def __init__(self, tree: Tree, tail: TensorTail, mapped: str) -> None:
        self.tree = tree
        self.tail = tail
        self.mapped = mapped

    def __call__(self, node: cst.CSTNode) -> cst.CSTNode:
        assert isinstance(node, cst.IndentedBlock)
        tail = self.tail
        statements = statements_of(node)
        kept: list[Statement] = []
        inner: list[Statement] = []
        comments: list[cst.EmptyLine] = []
        for number, statement in enumerate(statements):
            if number == tail.last:
                break
            if number in tail.drop:
                continue  # with its comments, which speak of the iterator
            if number == tail.first:
                comments += _comments(statement)
            elif number > tail.first:
                inner.append(statement)
            else:
                kept.append(statement)
        returned = statements[tail.last]
        dataset = tail.dataset
        if tail.parameters is not None:
            dataset = f"{dataset}.map({self.mapped})"
            code = f"def {self.mapped}({tail.parameters}):\n    pass\n"
            (function,) = parse_statements(code)
            assert isinstance(function, cst.FunctionDef)
            body = [*inner, returned]
            body[0] = body[0].with_changes(
                leading_lines=from_comment(body[0].leading_lines)
            )
            block = cst.IndentedBlock(body=body)
            blank = [cst.EmptyLine(indent=False)]
            kept.append(
                function.with_changes(
                    body=block, leading_lines=[*blank, *from_comment(comments)]
                )
            )
            comments = list(blank)
        (last,) = parse_statements(f"return {dataset}\n")
        lines = comments
        if tail.parameters is None and tail.last != tail.first:
            lines = [*comments, *returned.leading_lines]
        if tail.first == tail.last:
            lines = list(returned.leading_lines)
        kept.append(last.with_changes(leading_lines=lines))
        return node.with_changes(body=kept)


def _comments(statement: Statement) -> list[cst.EmptyLine]:
    lines = statement.leading_lines
    return list(lines) if any(line.comment is not None for line in lines) else []
