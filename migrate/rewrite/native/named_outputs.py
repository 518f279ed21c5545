"""What is made within another expression, and is looked for, gets a line of its own:
a network that a loss calls, a batch that is returned within a dict."""

from __future__ import annotations

from functools import partial

import libcst as cst

from ...code.edits import changed
from ...code.names import fresh
from ...code.tree import Tree, only_small, walk
from ...project.facts import ParsedModule, ProjectFacts
from ..layers.model_functions import is_model_fn
from .code import LAYER_WORDS


def with_outputs_named(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file with ``outputs = network(x)`` before ``loss = f(labels, outputs)``.

    For what was ``loss = f(labels, network(x))``: a model is told no labels.
    """
    tree = Tree(parsed.module, parsed.resolver)
    for defined in filter(is_model_fn, parsed.each(cst.FunctionDef)):
        assert isinstance(defined, cst.FunctionDef)
        names = [one.name.value for one in defined.params.params]
        labels = names[1] if len(names) > 1 else ""
        for line in walk(defined.body, cst.SimpleStatementLine):
            small = only_small(line)
            value = small.value if isinstance(small, cst.Assign) else None
            if not isinstance(value, cst.Call) or tree.function(line) is not defined:
                continue
            inside = [one.value for one in value.args if _makes(tree, one.value)]
            if len(inside) != 1 or labels not in _read(value):
                continue
            if labels in _read(inside[0]):
                continue
            bound = parsed.resolver.scopes.opened[defined].bindings
            name = fresh("outputs", {*bound, *_read(defined)})
            return changed(parsed, facts, _named(inside[0], name, line))
    return parsed


def with_batches_named(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file with ``batch = iterator.get_next()`` before ``return {'x': batch}``."""
    if ".get_next()" not in parsed.source.text:
        return parsed
    tree = Tree(parsed.module, parsed.resolver)
    edits: dict[cst.CSTNode, object] = {}
    for node in walk(parsed.module, cst.Return):
        defined = tree.function(node)
        calls = [
            one
            for one in walk(node, cst.Call)
            if isinstance(one.func, cst.Attribute)
            and one.func.attr.value == "get_next"
            and tree.function(one) is defined
        ]
        if len(calls) == 1 and calls[0] is not node.value and defined is not None:
            scopes = parsed.resolver.scopes
            read = {n.value for n in walk(defined, cst.Name) if n in scopes.loads}
            name = fresh("batch", {*scopes.opened[defined].bindings, *read})
            edits |= _named(calls[0], name, tree.statement(node))
    return changed(parsed, facts, edits) if edits else parsed


def _named(
    value: cst.BaseExpression, name: str, line: cst.CSTNode
) -> dict[cst.CSTNode, object]:
    """Gives a value a name, in a line of its own above the one that it stands in."""
    target = cst.AssignTarget(cst.Name(name))
    first = cst.SimpleStatementLine([cst.Assign([target], value)])
    return {value: cst.Name(name), line: partial(_behind, first)}


def _behind(first: cst.CSTNode, now: cst.CSTNode) -> list[cst.CSTNode]:
    return [first, now]


def _read(node: cst.CSTNode) -> set[str]:
    return {one.value for one in walk(node, cst.Name)}


def _makes(tree: Tree, node: cst.BaseExpression) -> bool:
    """A call of a function of layers, or of one of the file that says such words."""
    if not isinstance(node, cst.Call):
        return False
    symbol = tree.symbol(node.func)
    made = tree.resolver.definition(node.func) if symbol is None else None
    told = tree.code(made) if isinstance(made, cst.FunctionDef) else f"{symbol}("
    return bool(LAYER_WORDS.search(told))
