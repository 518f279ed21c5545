"""Specifications whose arguments a dict gathers: each of them gets a name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from ...code.arguments import entries_of
from ...code.edits import changed
from ...code.names import fresh
from ...code.tree import Tree, walk
from ...project.facts import ParsedModule, ProjectFacts
from ..layers.spelling import argument_of

_SPECS = ("EstimatorSpec", "TPUEstimatorSpec")


def with_specs_written_out(
    parsed: ParsedModule,
    facts: ProjectFacts,
    is_model_fn: Callable[[cst.CSTNode], bool],
) -> ParsedModule:
    """The file with ``EstimatorSpec(mode, loss=loss)`` for ``EstimatorSpec(**spec)``.

    ``spec['loss'] = ...`` becomes ``loss = ...``; what only some modes set is None.
    """
    if "Spec(**" not in parsed.source.text:
        return parsed
    tree = Tree(parsed.module, parsed.resolver)
    edits: dict[cst.CSTNode, Any] = {}
    for defined in parsed.each(cst.FunctionDef):
        if is_model_fn(defined):
            edits |= _edits(tree, defined)
    return changed(parsed, facts, edits) if edits else parsed


def _edits(tree: Tree, defined: cst.FunctionDef) -> dict[cst.CSTNode, Any]:
    specs = [
        one
        for one in walk(defined.body, cst.Call)
        if (tree.symbol(one.func) or "").endswith(_SPECS)
        and any(arg.star == "**" for arg in one.args)
    ]
    given = [arg.value for one in specs for arg in one.args if arg.star == "**"]
    names = {one.value for one in given if isinstance(one, cst.Name)}
    own = tree.resolver.scopes.opened[defined].bindings
    (name,) = names if len(names) == 1 else ("",)
    bound = own.get(name, ())
    made = bound[0].value if len(bound) == 1 else None
    first = _entries(tree, made)
    if not specs or first is None or made is None:
        return {}
    statement = tree.statement(made)
    stores: dict[str, list[cst.CSTNode]] = {}
    reads: list[tuple[cst.CSTNode, str]] = []
    for node in walk(defined.body, cst.Name):
        if node.value != name or node in given or tree.statement(node) is statement:
            continue
        above = tree.parent(node)
        key = _key(above) if isinstance(above, cst.Subscript) else None
        if above is None or key is None or tree.function(node) is not defined:
            return {}
        reads.append((above, key))
        if isinstance(tree.parent(above), cst.AssignTarget):
            stores.setdefault(key, []).append(above)
    taken = {*own, *tree.resolver.scopes.module_scope.bindings}
    said: dict[str, str] = {}
    lines: list[str] = []
    for key in dict.fromkeys([*first, *stores]):
        value = first.get(key)
        if value is not None and key not in stores and value.isidentifier():
            said[key] = value
            continue
        said[key] = fresh(key, taken)
        lines.append(f"{said[key]} = {value}\n")
    found: dict[cst.CSTNode, Any] = {node: cst.Name(said[key]) for node, key in reads}
    found[statement] = [*cst.parse_module("".join(lines)).body]
    for one in specs:
        args = [arg for arg in one.args if arg.star != "**"]
        named = [argument_of(cst.Name(v), cst.Name(k)) for k, v in said.items()]
        found[one] = one.with_changes(args=[*args, *named])
    return found


def _entries(tree: Tree, made: cst.CSTNode | None) -> dict[str, str] | None:
    """The entries of a dict that is written out, or of ``dict(loss=loss)``."""
    if isinstance(made, cst.Dict):
        entries = entries_of(made)
        if entries is None:
            return None
        return {key: tree.code(value) for key, value in entries.items()}
    if not isinstance(made, cst.Call) or tree.code(made.func) != "dict":
        return None
    pairs = [(one.keyword, one.value) for one in made.args]
    found = {key.value: tree.code(value) for key, value in pairs if key is not None}
    return found if len(found) == len(pairs) else None


def _key(node: cst.Subscript) -> str | None:
    index = node.slice[0].slice if len(node.slice) == 1 else None
    text = index.value if isinstance(index, cst.Index) else None
    value = text.evaluated_value if isinstance(text, cst.SimpleString) else None
    return value if isinstance(value, str) else None
