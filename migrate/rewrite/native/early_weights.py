"""Weights and layers that a model function has for its loss alone are its model's."""

from __future__ import annotations

import libcst as cst

from ...code.edits import changed
from ...code.pure import is_pure
from ...code.statements import binds
from ...code.tree import Statement, Tree, only_small, statements_of, walk
from ...project.facts import ParsedModule, ProjectFacts
from ..layers.model_functions import is_model_fn
from .local_functions import makes_layers

_MAKES = (
    "tf.get_variable", "tf.contrib.layers.conv2d", "tf.contrib.layers.fully_connected",
    "tf.contrib.layers.linear",
)  # fmt: skip
_LAYERS = ("tf.get_variable", "tf.layers.", "tf.contrib.", "tf.keras.layers.")


def with_weights_before_modes(
    parsed: ParsedModule,
    facts: ProjectFacts,
) -> ParsedModule:
    """The file whose weights and layers stand before the first mode returns.

    A model has all its weights in every mode. Those of a sampled loss, a discriminator
    or a second head, which stand behind the return of PREDICT, would be a second model.
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
        (tree.symbol(call.func) or "").startswith(_LAYERS) or _is_layer(tree, call)
        for one in statements[:first]
        for call in walk(one, cst.Call)
    ):
        return
    parameters = [one.name.value for one in defined.params.params]
    # What only some modes know, or what is bound behind what stays.
    late = {"labels", *parameters[1:2]}
    for one in statements[:first]:
        late |= binds(one) if _names(one) & late else set()
    # What is asked of the features in every mode: others may not be there.
    given = parameters[0] if parameters else ""
    known = {part for one in statements[:first] for part in _asked(tree, one, given)}
    passed: set[str] = set()
    moved: list[Statement] = []
    for one in statements[first:]:
        names = _names(one)
        weights = _makes_weights(tree, one)
        if (
            (weights or _computes(tree, one))
            and not (names & late or binds(one) & passed)
            and known.issuperset(_asked(tree, one, given))
        ):
            moved.append(one)
        else:
            late |= binds(one)
            passed |= names
    moved = _needed(tree, moved)
    if moved:
        edits |= {one: [] for one in moved}
        edits[statements[first]] = [*moved, statements[first]]


def _needed(tree: Tree, moved: list[Statement]) -> list[Statement]:
    """Statements that make variables, and those that these read."""
    found: list[Statement] = []
    read: set[str] = set()
    for one in reversed(moved):
        if _makes_layers(tree, one) or binds(one) & read:
            found.insert(0, one)
            read |= _names(one)
    return found


def _names(statement: Statement) -> set[str]:
    return {node.value for node in walk(statement, cst.Name)}


def _asked(tree: Tree, statement: Statement, name: str) -> set[str]:
    """``features`` or ``features['x']``, as code of a statement."""
    found = set()
    for node in walk(statement, cst.Name):
        if node.value == name:
            above = tree.parent(node)
            part = above if isinstance(above, cst.Subscript) else node
            found.add(tree.code(part))
    return found


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


def _computes(tree: Tree, statement: Statement) -> bool:
    """It binds what layers and functions without state give, and does nothing else."""
    small = only_small(statement)
    return isinstance(small, cst.Assign) and all(
        is_pure(tree.symbol(call.func) or "") or _is_layer(tree, call)
        for call in walk(small.value, cst.Call)
    )


def _is_layer(tree: Tree, call: cst.Call) -> bool:
    """A call of a layer, or of a function of the file that makes some."""
    symbol = tree.symbol(call.func)
    if symbol is None:
        return makes_layers(tree, tree.resolver.definition(call.func))
    lower = symbol.rpartition(".")[2].islower()
    return (symbol.startswith("tf.layers.") and lower) or symbol in _MAKES


def _makes_layers(tree: Tree, statement: Statement) -> bool:
    return any(_is_layer(tree, one) for one in walk(statement, cst.Call)) or (
        _makes_weights(tree, statement)
    )
