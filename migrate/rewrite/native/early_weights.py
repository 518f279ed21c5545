"""Weights that a model function makes for its loss alone belong to its model."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from ...code.edits import changed
from ...code.statements import binds
from ...code.tree import Statement, Tree, only_small, statements_of, walk
from ...project.facts import ParsedModule, ProjectFacts

_LAYERS = ("tf.get_variable", "tf.layers.", "tf.contrib.", "tf.keras.layers.")


def with_weights_before_modes(
    parsed: ParsedModule,
    facts: ProjectFacts,
    is_model_fn: Callable[[cst.CSTNode], bool],
) -> ParsedModule:
    """The file whose `tf.get_variable` stand before the first mode returns.

    A model has all its weights in every mode. Those of a sampled loss, which stand
    behind the return of PREDICT, would be a second model.
    """
    tree = Tree(parsed.module, parsed.resolver)
    edits: dict[cst.CSTNode, list[Statement]] = {}
    for defined in parsed.each(cst.FunctionDef):
        if is_model_fn(defined):
            _move(tree, defined, edits)
    return changed(parsed, facts, edits) if edits else parsed


def _move(
    tree: Tree, defined: cst.FunctionDef, edits: dict[cst.CSTNode, list[Statement]]
) -> None:
    statements = _inside(defined)
    first = next((n for n, one in enumerate(statements) if _returns(one)), None)
    if first is None or not any(
        (tree.symbol(call.func) or "").startswith(_LAYERS)
        for one in statements[:first]
        for call in walk(one, cst.Call)
    ):
        return
    changed_before: set[str] = set()
    moved: list[Statement] = []
    for one in statements[first:]:
        names = {node.value for node in walk(one, cst.Name)}
        if _makes_weights(tree, one) and not names & changed_before:
            moved.append(one)
        else:
            changed_before |= binds(one)
    if moved:
        edits |= {one: [] for one in moved}
        edits[statements[first]] = [*moved, statements[first]]


def _inside(node: cst.FunctionDef | cst.If | cst.With) -> list[Statement]:
    block = node.body
    return statements_of(block) if isinstance(block, cst.IndentedBlock) else []


def _returns(statement: Statement) -> bool:
    """A branch that ends the function."""
    inside = _inside(statement) if isinstance(statement, cst.If) else []
    return bool(inside) and isinstance(only_small(inside[-1]), cst.Return)


def _makes_weights(tree: Tree, statement: Statement) -> bool:
    """It makes weights by name and does nothing else, in a scope or not."""
    if isinstance(statement, cst.With):
        return all(_makes_weights(tree, one) for one in _inside(statement)) and all(
            item.asname is None and "scope" in tree.code(item.item)
            for item in statement.items
        )
    small = only_small(statement)
    return (
        isinstance(small, cst.Assign)
        and isinstance(small.value, cst.Call)
        and isinstance(small.targets[0].target, cst.Name)
        and tree.symbol(small.value.func) == "tf.get_variable"
    )
