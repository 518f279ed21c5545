"""Functions that are handed to helpers of a network, or None: a flag says which.

``block(x, filters, shortcut)`` calls `shortcut` where it is given, and it is the same
function wherever it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import libcst as cst

from ...code.arguments import UnknownArguments, is_none, match_arguments
from ...code.edits import Put, changed
from ...code.statements import binds, returned_alone
from ...code.tree import Tree, statements_of, walk
from ...project.facts import ParsedModule, ProjectFacts
from .local_functions import makes_layers

_MOST = 12
_Places = dict[cst.CSTNode, Any]


def with_functions_as_flags(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file whose helpers call by name what they were handed."""
    for _ in range(_MOST):
        tree = Tree(parsed.module, parsed.resolver)
        held = _held(tree)
        if held:
            parsed = changed(parsed, facts, held)
            continue
        for node in parsed.each(cst.FunctionDef):
            places = _places(tree, node)
            others = facts.texts_of_importers(parsed.path) if places else ()
            if places and not any(node.name.value in text for text in others):
                parsed = changed(parsed, facts, places)
                break
        else:
            break
    return parsed


def _held(tree: Tree) -> _Places:
    """The edits for ``self.block_fn = block``, which is that function anywhere."""
    every = tree.each(cst.Attribute)
    for node in tree.each(cst.Assign):
        target = node.targets[0].target
        if not isinstance(target, cst.Attribute) or len(node.targets) > 1:
            continue
        method = tree.function(node)
        function = _only(tree, [node.value])
        alike = [one for one in every if one.attr.value == target.attr.value]
        first = isinstance(method, cst.FunctionDef) and method.name.value == "__init__"
        plain = first and tree.statement(node) in statements_of(method.body)  # type: ignore[arg-type, union-attr]
        if (
            not plain
            or function is None
            or tree.parent(function) is not tree.module
            or not makes_layers(tree, function)
            or any(tree.code(one.value) != "self" for one in alike)
            or any(
                isinstance(tree.parent(n), cst.AssignTarget)
                for n in alike
                if n is not target
            )
        ):
            continue
        name = cst.Name(function.name.value)
        reads: _Places = {one: name for one in alike if one is not target}
        return {**reads, tree.statement(node): None}
    return {}


def _places(tree: Tree, node: cst.FunctionDef) -> _Places | None:
    """The edits for the first parameter of a function that is such a function."""
    names = [one.name.value for one in node.params.params]
    if node.params.kwonly_params or node.decorators or names[:1] == ["self"]:
        return None
    every = tree.calls_of(node)
    if every is None:
        return None
    try:
        calls = {call: match_arguments(call, names) for call in every}
    except UnknownArguments:
        return None
    for param in node.params.params:
        uses = _uses(tree, node, param.name.value)
        if uses and calls:
            places = _always(tree, node, param, uses, calls)
            if places is None and len(calls) > 1:
                places = _flagged(tree, node, param, uses, calls)
            if places is not None:
                return places
    return None


def _uses(tree: Tree, node: cst.FunctionDef, name: str) -> _Places | None:
    """What a function does with a parameter that it calls or tests: for each use,
    the test in its place, or None for a call."""
    found: _Places = {}
    for one in walk(node.body, cst.Name):
        if one.value != name or isinstance(tree.parent(one), cst.Arg):
            if one.value == name and getattr(tree.parent(one), "value", None) is one:
                return None
            continue
        above = tree.parent(one)
        if isinstance(above, cst.Call) and above.func is one:
            found[above] = None
        elif isinstance(above, cst.Comparison) and len(above.comparisons) == 1:
            test = above.comparisons[0]
            if above.left is not one or not is_none(test.comparator):
                return None
            if isinstance(test.operator, cst.IsNot):
                found[above] = one
            elif isinstance(test.operator, cst.Is):
                found[above] = cst.UnaryOperation(cst.Not(), one)
            else:
                return None
        elif not isinstance(above, (cst.If, cst.IfExp)) or above.test is not one:
            return None
    return found if None in found.values() else None


def _only(
    tree: Tree, values: Iterable[cst.BaseExpression | None]
) -> cst.FunctionDef | None:
    """The one function that expressions name."""
    functions = {tree.resolver.definition(one) for one in values if one}
    found = functions.pop() if len(functions) == 1 else None
    return found if isinstance(found, cst.FunctionDef) else None


def _always(
    tree: Tree,
    node: cst.FunctionDef,
    param: cst.Param,
    uses: _Places,
    calls: Mapping[cst.Call, Mapping[str, cst.BaseExpression]],
) -> _Places | None:
    """The edits for a parameter that is one function of the module in all calls."""
    name = param.name.value
    given = {call: told.get(name) for call, told in calls.items()}
    function = _only(tree, given.values())
    if None in given.values() or function is None:
        return None
    if not makes_layers(tree, function):
        return None
    module = tree.resolver.scopes.module_scope
    own = tree.resolver.scopes.opened[function]
    bound = [b for one in walk(function, cst.Name) for b in tree.resolver.bindings(one)]
    if any(one.scope not in (module, own) for one in bound):
        return None
    called = {
        one.func: cst.Name(function.name.value)
        for one, test in uses.items()
        if test is None and isinstance(one, cst.Call)
    }
    places: _Places = dict(called.items())
    for use, test in uses.items():
        above = tree.parent(use)
        if test is not None and isinstance(above, cst.IfExp) and above.test is use:
            kept = above.body if isinstance(test, cst.Name) else above.orelse
            places[above] = kept.visit(Put(called, kept))
        elif test is not None:
            return None
    for call, value in given.items():
        places[call] = _Without(call, value)
    params = [one for one in node.params.params if one is not param]
    params[-1:] = [o.with_changes(comma=cst.MaybeSentinel.DEFAULT) for o in params[-1:]]
    places[node.params] = node.params.with_changes(params=params)
    outer = tree.function(function)
    if isinstance(outer, cst.FunctionDef):
        if tree.parent(outer) is not tree.module:
            return None
        apart = function.with_changes(leading_lines=outer.leading_lines)
        places |= {function: None, outer: lambda now: [apart, now]}
    return places


class _Without:
    """A call without one of its arguments."""

    def __init__(self, call: cst.Call, value: cst.BaseExpression | None) -> None:
        self.kept = [one.value is not value for one in call.args]

    def __call__(self, now: cst.Call) -> cst.Call:
        pairs = zip(now.args, self.kept, strict=True)
        return now.with_changes(args=[one for one, kept in pairs if kept])


class _With:
    """A call with more arguments."""

    def __init__(self, more: list[cst.Arg]) -> None:
        self.more = more

    def __call__(self, now: cst.Call) -> cst.Call:
        return now.with_changes(args=[*now.args, *self.more])


def _flagged(
    tree: Tree,
    node: cst.FunctionDef,
    param: cst.Param,
    uses: _Places,
    calls: Mapping[cst.Call, Mapping[str, cst.BaseExpression]],
) -> _Places | None:
    name = param.name.value
    values = {call: given.get(name, param.default) for call, given in calls.items()}
    handed = {call: one for call, one in values.items() if one and not is_none(one)}
    function = _only(tree, handed.values())
    if None in values.values() or len(handed) == len(values):
        return None
    told = _returned(function)
    if told is None or function is None:
        return None
    captured: dict[str, str] = {}
    # What only its own surroundings know is handed along.
    added: list[str] = []
    taken = {*tree.resolver.scopes.opened[node].bindings}
    module = tree.resolver.scopes.module_scope
    own = tree.resolver.scopes.opened[function]
    for one in walk(told, cst.Name):
        for bound in tree.resolver.bindings(one)[:1]:
            if bound.scope in (module, own) or one.value in captured:
                continue
            alike = [
                [key for key, v in calls[call].items() if _is_name(v, one.value)]
                for call in handed
            ]
            unknown = not all(alike)
            if len(tree.resolver.bindings(one)) > 1 or (unknown and one.value in taken):
                return None
            captured[one.value] = one.value if unknown else alike[0][0]
            added += [one.value] if unknown else []
    changing = {
        n for one in walk(node.body, cst.SimpleStatementLine) for n in binds(one)
    }
    if changing & {*captured.values()}:
        return None
    parameters = [one.name.value for one in function.params.params]
    places: _Places = {}
    for use, test in uses.items():
        if test is not None or not isinstance(use, cst.Call):
            places[use] = test
            continue
        try:
            given = match_arguments(use, parameters)
        except UnknownArguments:
            return None
        if given.keys() != {*parameters}:
            return None
        new: _Places = {}
        for one in walk(told, cst.Name):
            if one.value in captured:
                new[one] = cst.Name(captured[one.value])
            elif one.value in given and one in tree.resolver.scopes.loads:
                new[one] = given[one.value]
        places[use] = told.visit(Put(new, told))
    for call, value in values.items():
        for arg in call.args:
            if arg.value is value:
                places[arg.value] = cst.Name(str(call in handed))
    if param.default is not None:
        places[param.default] = cst.Name("False")
    if added:
        more = [cst.parse_expression(f"f({one}={one})").args[0] for one in added]  # type: ignore[attr-defined]
        places |= {call: _With(more) for call in handed}
        new_params = [cst.Param(cst.Name(o), default=cst.Name("None")) for o in added]
        places[node.params] = lambda now: now.with_changes(
            params=[*now.params, *new_params]
        )
    if len(tree.loads_of(function)) == len(handed):
        places[function] = None
    return places


def _returned(function: cst.CSTNode | None) -> cst.BaseExpression | None:
    """What a plain function gives, which does nothing else."""
    if not isinstance(function, cst.FunctionDef) or function.decorators:
        return None
    params = function.params
    if params.star_kwarg or isinstance(params.star_arg, cst.Param):
        return None
    return returned_alone(function)


def _is_name(node: cst.BaseExpression, name: str) -> bool:
    return isinstance(node, cst.Name) and node.value == name
