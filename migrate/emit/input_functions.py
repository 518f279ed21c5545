"""Input functions that handed out tensors return their Dataset."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst

from ..plan.array_dataset import rows_of
from ..plan.sites import InputSites, MadeInput, TensorTail
from ..plan.tree import Statement, Tree, statements_of
from .edits import Edits
from .layout import WIDTH, fit, one_line
from .names import Names
from .spacing import with_blank_lines
from .template import parse_statements, unshadowed

__all__ = ["edit_input_functions"]


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
        edits.replace[made.statement] = _function(tree, made, text)
        edits.spaced.add(made.statement)


def _function(
    tree: Tree, made: MadeInput, text: Callable[[str], str]
) -> list[Statement]:
    """``name = numpy_input_fn(...)`` as a function of that name."""
    data = made.dataset
    name = made.name or "input_fn"
    column = tree.column(made.statement) - 1
    rows = f"    dataset = {text(one_line(data.rows))}\n"
    if column + len(rows) > WIDTH + 1 and data.labels is not None:
        parts = [text(one_line(part)) for part in (data.features, data.labels)]
        if not unshadowed(("features", "labels"), f"{parts[0]}, {parts[1]}"):
            rows = f"    features = {parts[0]}\n    labels = {parts[1]}\n"
            rows += f"    dataset = {text(rows_of('(features, labels)'))}\n"
    code = f"def {name}():\n{rows}"
    shuffle = data.shuffle
    if data.shuffles_if is not None:
        condition = text(one_line(data.shuffles_if))
        code += f"    if {condition}:\n        dataset = dataset{shuffle}\n"
        shuffle = ""
    # The methods alone are no expression: they are put behind a name.
    batches = text(one_line(f"dataset{shuffle}{data.batches}"))
    code += f"    return {batches}\n"
    found = parse_statements(code)
    if made.name is None:
        (returned,) = parse_statements(f"return {name}\n")
        found.append(with_blank_lines(returned, 1))
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
            if number in tail.drop or number == tail.first:
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
                leading_lines=_without_blank(body[0].leading_lines)
            )
            block = cst.IndentedBlock(body=body)
            blank = [cst.EmptyLine(indent=False)]
            kept.append(
                function.with_changes(
                    body=block, leading_lines=[*blank, *_without_blank(comments)]
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


def _without_blank(lines: Sequence[cst.EmptyLine]) -> list[cst.EmptyLine]:
    kept = list(lines)
    while kept and kept[0].comment is None:
        kept.pop(0)
    return kept
