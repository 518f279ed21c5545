"""Keras models that are made and called within a function, in one expression or two."""

from __future__ import annotations

import libcst as cst

from ...code.edits import changed
from ...code.names import fresh
from ...code.tree import Tree, statements_of, walk
from ...project.facts import ParsedModule, ProjectFacts
from ..layers.model_functions import is_model_fn
from .local_functions import MAKES_LAYERS

_MAKING = ("tf.keras.Sequential", "tf.keras.models.", "tf.keras.applications.")
_MODEL = ("tf.keras.Model", "tf.keras.models.Model")
_MOST = 4
# What may never be evaluated, or more than once.
_UNSURE = (cst.IfExp, cst.Lambda, cst.BooleanOperation, cst.BaseComp)


def with_models_named(
    parsed: ParsedModule,
    facts: ProjectFacts,
) -> ParsedModule:
    """The file with ``network = Net()`` above ``network(x)`` for ``Net()(x)``."""
    tree = Tree(parsed.module, parsed.resolver)
    edits: dict[cst.CSTNode, object] = {}
    for node in parsed.each(cst.Call):
        if not isinstance(node.func, cst.Call):
            continue
        around = tree.function(node)
        line = tree.statement(node)
        above = [one for one in tree.ancestors(node) if isinstance(one, _UNSURE)]
        if (
            around is None
            or line in edits
            or not isinstance(line, cst.SimpleStatementLine)
            or any(tree.statement(one) is line for one in above)
            or (tree.parent(around) is not parsed.module and not is_model_fn(around))
            or not (
                makes_model(node.func, parsed, facts)
                or (is_model_fn(around) and _makes_network(node.func, parsed, facts))
            )
        ):
            continue
        taken = {*parsed.resolver.scopes.module_scope.bindings}
        taken |= {*parsed.resolver.scopes.opened[around].bindings}
        name = cst.Name(fresh("network", taken))
        made = cst.SimpleStatementLine(
            [cst.Assign([cst.AssignTarget(name)], node.func)],
            leading_lines=line.leading_lines,
        )
        edits[line] = lambda new, made=made: [made, new.with_changes(leading_lines=[])]
        edits[node.func] = name
    return changed(parsed, facts, edits) if edits else parsed


def calls_model(
    helper: cst.FunctionDef, parsed: ParsedModule, facts: ProjectFacts
) -> bool:
    """A function makes a Keras model and calls it, so a call of it makes weights."""
    for node in walk(helper.body, cst.Call):
        bound = (
            parsed.resolver.bindings(node.func)
            if isinstance(node.func, cst.Name)
            else ()
        )
        made = bound[0].value if len(bound) == 1 else None
        if made is not None and makes_model(made, parsed, facts):
            return True
    return False


def makes_model(
    node: cst.CSTNode, parsed: ParsedModule, facts: ProjectFacts, most: int = _MOST
) -> bool:
    """A call that makes a Keras model, by its class or by a function that does."""
    if not isinstance(node, cst.Call) or not most:
        return False
    symbol = parsed.resolver.resolve(node.func) or ""
    if symbol in _MODEL or symbol.startswith(_MAKING):
        return True
    told = facts.definition(node.func, parsed)
    if told is None:
        return False
    if isinstance(told.node, cst.ClassDef):
        return _is_model_class(told.node, told.module, facts, most)
    if not isinstance(told.node, cst.FunctionDef):
        return False
    body = told.node.body
    last = [*statements_of(body)][-1:] if isinstance(body, cst.IndentedBlock) else []
    small = [one for line in last for one in walk(line, cst.Return)]
    value = small[0].value if len(small) == 1 else None
    bound = told.module.resolver.bindings(value) if isinstance(value, cst.Name) else ()
    value = bound[0].value if len(bound) == 1 else value
    return value is not None and makes_model(value, told.module, facts, most - 1)


def _makes_network(node: cst.Call, parsed: ParsedModule, facts: ProjectFacts) -> bool:
    """A call that makes an object of a class which makes layers when it is called."""
    told = facts.definition(node.func, parsed)
    if told is None or not isinstance(told.node, cst.ClassDef):
        return False
    code = told.module.module.code_for_node(told.node)
    return MAKES_LAYERS.search(code) is not None


def makes_layer(node: cst.Call, parsed: ParsedModule, facts: ProjectFacts) -> bool:
    """A call that makes a layer or a model of Keras, by a class of the project."""
    told = facts.definition(node.func, parsed)
    return (
        told is not None
        and isinstance(told.node, cst.ClassDef)
        and _is_model_class(told.node, told.module, facts, _MOST, ("tf.keras.",))
    )


def _is_model_class(
    kind: cst.ClassDef,
    parsed: ParsedModule,
    facts: ProjectFacts,
    most: int,
    bases: tuple[str, ...] = _MODEL,
) -> bool:
    for base in kind.bases:
        if (parsed.resolver.resolve(base.value) or "").startswith(bases):
            return True
        told = facts.definition(base.value, parsed)
        if told is not None and isinstance(told.node, cst.ClassDef) and most:
            return _is_model_class(told.node, told.module, facts, most - 1, bases)
    return False
