"""arg_scopes that a function of the program makes, or a dict gives, written out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import libcst as cst

from ...code.arguments import UnknownArguments, entries_of, match_arguments
from ...code.edits import Put, changed, importing
from ...code.statements import without_docstring
from ...code.tree import Tree, only_small, statements_of, walk
from ...project.facts import ParsedModule, ProjectFacts
from .spelling import argument_of

ARG_SCOPES = ("tf.contrib.framework.arg_scope", "tf.contrib.slim.arg_scope")
_RETURNS_SCOPE = re.compile(r"arg_scope\((?s:.*)\bas (\w+):\s+return \1\s*$")
_Given = Mapping[str, cst.BaseExpression]


def with_arg_scopes_written_out(
    parsed: ParsedModule, facts: ProjectFacts
) -> ParsedModule:
    """The file with ``arg_scope([f], a=1)`` for ``arg_scope([f], **params)``.

    The scopes that a function like ``my_arg_scope()`` has around its ``return`` stand
    where they are entered, too.
    """
    if "arg_scope(" not in parsed.source.text:
        return parsed
    tree = Tree(parsed.module, parsed.resolver)
    edits: dict[cst.CSTNode, object] = {}
    spread: set[cst.CSTNode] = set()
    for scope in parsed.each(cst.With):
        for item in scope.items:
            call = item.item
            if (
                not isinstance(call, cst.Call)
                or tree.symbol(call.func) not in ARG_SCOPES
            ):
                continue
            if any(one.star == "**" for one in call.args):
                args = _written_out(tree, scope, call)
                if args is not None:
                    edits[call] = call.with_changes(args=args)
                    spread |= {one.value for one in call.args if one.star}
            elif len(call.args) == 1 and item.asname is None:
                made = tree.value(call.args[0].value)
                found = _made(tree, made) if made is not None else None
                if made is not None and not found:
                    found = _made_elsewhere(parsed, made, facts)
                if found:
                    edits[item] = [cst.WithItem(one) for one in found]
    for statement in parsed.nodes if spread else ():
        small = only_small(statement)
        name = small.targets[0].target if isinstance(small, cst.Assign) else None
        if not isinstance(small, cst.Assign) or not isinstance(name, cst.Name):
            continue
        loads = [
            one
            for one in tree.loads(name.value)
            if any(b.value is small.value for b in tree.resolver.bindings(one))
        ]
        if loads and spread.issuperset(loads):
            edits[statement] = None
    return changed(parsed, facts, edits) if edits else parsed


def without_scope_makers(
    files: Sequence[ParsedModule], facts: ProjectFacts
) -> list[ParsedModule]:
    """The files without functions that made scopes, which no file calls any more."""
    paths = {one.path for one in files}
    code = cst.Module([]).code_for_node
    edits: list[dict[cst.CSTNode, object]] = [{} for _ in files]
    # What imports of each file name for nothing then.
    unread: list[dict[cst.ImportFrom, set[str]]] = [{} for _ in files]
    names = [name for one in files for name in one.each(cst.Name)]
    for parsed, own in zip(files, edits, strict=True):
        makes = "arg_scope(" in parsed.source.text
        for made in parsed.module.body if makes else ():
            if not isinstance(made, cst.FunctionDef) or not _RETURNS_SCOPE.search(
                code(made)
            ):
                continue
            imports = [
                (gone, statement)
                for gone, one in zip(unread, files, strict=True)
                for statement in one.each(cst.ImportFrom)
                if made.name.value in _imported(statement)
            ]
            said = sum(one.value == made.name.value for one in names)
            if said == 1 + len(imports) and paths.issuperset(
                facts.importers(parsed.path)
            ):
                own[made] = None
                for gone, statement in imports:
                    gone.setdefault(statement, set()).add(made.name.value)
    for own, gone in zip(edits, unread, strict=True):
        for line, lost in gone.items():
            assert not isinstance(line.names, cst.ImportStar)
            kept = [one for one in line.names if one.evaluated_name not in lost]
            own[line] = importing(line, kept)
    return [
        changed(one, facts, own) if own else one
        for one, own in zip(files, edits, strict=True)
    ]


def _imported(statement: cst.ImportFrom) -> set[str]:
    names = () if isinstance(statement.names, cst.ImportStar) else statement.names
    return {one.evaluated_name for one in names if one.asname is None}


# -- dicts


def _written_out(tree: Tree, scope: cst.With, call: cst.Call) -> list[cst.Arg] | None:
    """Arguments with those of dicts by their names; None where one is not seen."""
    args: list[cst.Arg] = []
    for one in call.args:
        entries = _entries(tree, scope, one.value) if one.star == "**" else [one]
        if entries is None or one.star == "*":
            return None
        args += entries
    return args


def _entries(
    tree: Tree, scope: cst.With, node: cst.BaseExpression
) -> list[cst.Arg] | None:
    made = _bound_before(tree, scope, node) if isinstance(node, cst.Name) else node
    if isinstance(made, cst.Call) and tree.code(made.func) == "dict":
        named = [argument_of(o.value, o.keyword) for o in made.args if o.keyword]
        return named if len(named) == len(made.args) else None
    entries = entries_of(made)
    if entries is None:
        return None
    return [argument_of(value, cst.Name(name)) for name, value in entries.items()]


def _bound_before(
    tree: Tree, scope: cst.With, name: cst.Name
) -> cst.BaseExpression | None:
    """What a name was last bound to, in the block of the scope."""
    value = tree.value(name)
    if value is not name:
        return value
    block = tree.parent(scope)
    lines = [*statements_of(block)] if isinstance(block, cst.IndentedBlock) else []
    for one in reversed(lines[: lines.index(scope)] if scope in lines else []):
        small = only_small(one)
        if isinstance(small, cst.Assign) and tree.code(
            small.targets[0].target
        ) == tree.code(name):
            return small.value
        if any(n.value == name.value for n in walk(one, cst.Name)):
            return None
    return None


# -- functions


def _made_elsewhere(
    parsed: ParsedModule, node: cst.BaseExpression, facts: ProjectFacts
) -> list[cst.Call] | None:
    """The scopes of a function of another file, whose names mean the same in this."""
    told = facts.definition(node.func, parsed) if isinstance(node, cst.Call) else None
    if told is None or not isinstance(node, cst.Call):
        return None
    there = told.module
    found = _made(Tree(there.module, there.resolver), node, told.node)
    given = {n.value for one in node.args for n in walk(one.value, cst.Name)}
    for call in found or ():
        for name in walk(call, cst.Name):
            bound = there.resolver.scopes.module_scope.bindings.get(name.value)
            if bound and name.value not in given:
                symbol = there.resolver.resolve(cst.Name(name.value))
                if symbol is None or parsed.resolver.resolve(name) != symbol:
                    return None
    return found


def _made(
    tree: Tree, node: cst.BaseExpression, made: cst.CSTNode | None = None
) -> list[cst.Call] | None:
    """The scopes that a function of the file enters to return what they say."""
    call = node if isinstance(node, cst.Call) else None
    if made is None and call is not None:
        made = tree.resolver.definition(call.func)
    if call is None or not isinstance(made, cst.FunctionDef):
        return None
    names = _arguments(made, call)
    found: list[cst.Call] = []
    body: cst.BaseSuite = made.body
    held: cst.AsName | None = None
    while names is not None and isinstance(body, cst.IndentedBlock):
        *before, last = without_docstring(body)
        for one in before:
            small = only_small(one)
            target = small.targets[0].target if isinstance(small, cst.Assign) else None
            if not isinstance(small, cst.Assign) or not isinstance(target, cst.Name):
                return None
            names[target.value] = _filled(tree, small.value, names)
        if not isinstance(last, cst.With):
            small = only_small(last)
            told = small.value if isinstance(small, cst.Return) else None
            if held is None or told is None:
                return None
            return found if tree.code(held.name) == tree.code(told) else None
        for item in last.items:
            inner = item.item
            if not isinstance(inner, cst.Call) or tree.symbol(inner.func) not in (
                ARG_SCOPES
            ):
                return None
            args = _written_out(tree, last, inner)
            if args is None:
                return None
            filled = [
                one.with_changes(value=_filled(tree, one.value, names)) for one in args
            ]
            found.append(inner.with_changes(args=filled))
        body, held = last.body, last.items[-1].asname
    return None


def _arguments(
    made: cst.FunctionDef, call: cst.Call
) -> dict[str, cst.BaseExpression] | None:
    """What the parameters of a function stand for in a call."""
    params = [*made.params.params, *made.params.kwonly_params]
    try:
        given = match_arguments(call, [one.name.value for one in params])
    except UnknownArguments:
        return None
    found = {p.name.value: given.get(p.name.value, p.default) for p in params}
    if made.params.star_kwarg or None in found.values():
        return None
    return {name: value for name, value in found.items() if value is not None}


def _filled(tree: Tree, node: cst.BaseExpression, names: _Given) -> cst.BaseExpression:
    """An expression of a function with what its names stand for."""
    loads = tree.resolver.scopes.loads
    places = {
        one: names[one.value].deep_clone()
        for one in walk(node, cst.Name)
        if one in loads and one.value in names
    }
    if isinstance(node, cst.Name) and node in places:
        return places[node]
    new = node.visit(Put(places, node))
    assert isinstance(new, cst.BaseExpression)
    return new
