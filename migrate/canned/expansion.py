"""A file whose canned Estimators are made by functions of its own."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import libcst as cst

from ..emit.module.edits import Edits
from ..emit.module.layout import fit
from ..emit.module.names import Names
from ..emit.module.spacing import space_definitions
from ..lift.files import File, tensorflow_of
from ..plan.code.tree import Statement, Tree
from ..project.facts import ParsedModule, ProjectFacts
from ..project.parsing import parse
from ..project.positions import code_of
from ..rules.written_for import written_for_tf2
from .uses import Uses, uses_of
from .writing import written

__all__ = ["Expanded", "expanded"]


@dataclass
class Expanded:
    """What became of a file, and of the canned classes that it names."""

    parsed: ParsedModule
    # Symbols that functions of the file stand for, and what these are called.
    functions: dict[str, str] = field(default_factory=dict)
    # (line, reason) of classes that stay.
    left: list[tuple[int, str]] = field(default_factory=list)


def expanded(parsed: ParsedModule, facts: ProjectFacts) -> Expanded:
    """Puts functions and Keras classes into a file, for the canned classes it names."""
    tree = Tree(parsed.module, parsed.resolver)
    found = Expanded(parsed)
    every = uses_of(tree)
    found.left = [one.stays for one in every.values() if one.stays is not None]
    asked = [one for one in every.values() if one.stays is None]
    tensorflow = tensorflow_of(File(parsed, tree))
    if tensorflow is None or any(_is_imported(tree, one) for one in asked):
        found.left += [
            (tree.line(one.names[0]), f"`{one.symbol}` is imported by itself")
            for one in asked
        ]
        return found
    if not asked:
        return found
    names = Names(tree, tree.module)
    statements, found.functions = written(
        asked,
        tensorflow,
        names.fresh,
        for_tf2=written_for_tf2(parsed.resolver),
    )
    edits = Edits()
    for one in asked:
        for node in one.names:
            edits.expressions[node] = cst.Name(found.functions[one.symbol])
    first = _first(tree, asked)
    edits.before[first] = fit(
        tree.module, space_definitions(statements, top_level=True), 0
    )
    module = edits.apply(tree.module)
    text = code_of(module)
    source = replace(parsed.source, text=text, module=parse(text))
    found.parsed = facts.module_of(source)
    return found


def _first(tree: Tree, every: list[Uses]) -> Statement:
    """The statement of the module that uses one of them first."""
    body = list(tree.module.body)
    places = []
    for one in every:
        for node in one.names:
            statement = tree.statement_in(node, tree.module)
            assert statement is not None
            places.append(body.index(statement))
    found = body[min(places)]
    assert isinstance(found, (cst.SimpleStatementLine, cst.BaseCompoundStatement))
    return found


def _is_imported(tree: Tree, uses: Uses) -> bool:
    """Its name comes from an import, which would ask for what is gone."""
    return any(isinstance(node, cst.Name) for node in uses.names)
