"""Functions that return a network, as a function of their own: classes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import libcst as cst

from ...code.edits import Put, changed
from ...code.names import fresh
from ...code.statements import is_docstring, without_docstring
from ...code.texts import camel
from ...code.tree import Statement, Tree, only_small, statements_of, walk
from ...project.facts import ParsedModule, ProjectFacts
from ..layers.model_functions import is_model_fn
from ..layers.spelling import argument_of
from .local_functions import MAKES_LAYERS

# What is no part of the name of what is made.
_WORDS = re.compile(r"^(make|build|get|create)_|_(generator|maker|builder|factory)$")
_Places = dict[cst.CSTNode, object]


def with_makers_as_classes(
    files: Sequence[ParsedModule], facts: ProjectFacts
) -> list[ParsedModule]:
    """The files with a class for what returns ``def model(x)``, and has that's values.

    ``network = resnet(18)`` and ``network(x)`` stand as they are: an object is called.
    """
    found = [*files]
    for number, parsed in enumerate(found):
        tree = Tree(parsed.module, parsed.resolver)
        for function in parsed.each(cst.FunctionDef):
            made = _class_of(tree, function)
            if made is None:
                continue
            uses = _uses(function, made.name, found, facts)
            if uses is None:
                continue
            for place, edits in enumerate(uses):
                edits = {**edits, **({function: made} if place == number else {})}
                if edits:
                    found[place] = changed(found[place], facts, edits)
            return with_makers_as_classes(found, facts)
    return found


def with_networks_made_inside(
    parsed: ParsedModule, facts: ProjectFacts
) -> ParsedModule:
    """The file with model functions that make the network that they were given.

    ``make_model_fn(resnet(18))`` is ``make_model_fn(18)`` then, and what it returns
    begins with ``network = resnet(size)``.
    """
    others = "\n".join(facts.texts_of_importers(parsed.path))
    tree = Tree(parsed.module, parsed.resolver)
    for maker in parsed.each(cst.FunctionDef):
        calls = tree.calls_of(maker) or []
        lines = without_docstring(maker.body)
        inner = [o for o in lines if isinstance(o, cst.FunctionDef) and is_model_fn(o)]
        if len(calls) != 1 or len(inner) != 1 or f"{maker.name.value}(" in others:
            continue
        for arg, param in _placed(calls[0], maker.params.params):
            places = _inside(tree, arg, param, maker, inner[0])
            if places is not None:
                new = changed(parsed, facts, {**places})
                return with_networks_made_inside(new, facts)
    return parsed


def _placed(
    call: cst.Call, params: Sequence[cst.Param]
) -> Iterator[tuple[cst.Arg, cst.Param]]:
    """Arguments with their parameters, where they are written out."""
    names = {one.name.value: one for one in params}
    for place, one in enumerate(call.args):
        if one.star:
            return
        if one.keyword is not None and one.keyword.value in names:
            yield one, names[one.keyword.value]
        elif one.keyword is None and place < len(params):
            yield one, params[place]


def _inside(
    tree: Tree,
    arg: cst.Arg,
    param: cst.Param,
    maker: cst.FunctionDef,
    inner: cst.FunctionDef,
) -> _Places | None:
    """The edits for an argument that is a network, made by a function of the file."""
    made = arg.value
    network = (
        tree.resolver.definition(made.func) if isinstance(made, cst.Call) else None
    )
    if not isinstance(made, cst.Call) or not isinstance(network, cst.FunctionDef):
        return None
    if _class_of(tree, network) is None or param.default is not None:
        return None
    scopes, name = tree.resolver.scopes, param.name.value
    loads = [one for one in walk(maker, cst.Name) if one in scopes.loads]
    taken = {*scopes.opened[maker].bindings, *scopes.opened[inner].bindings}
    taken |= {one.value for one in loads}
    reads = [one for one in loads if one.value == name]
    given = [*_placed(made, network.params.params)]
    if len(given) < len(made.args) or not {*walk(inner)}.issuperset(reads):
        return None
    if network.name.value in taken:
        return None
    told = [(one, cst.Name(fresh(other.name.value, taken))) for one, other in given]
    begins = made.with_changes(args=[o.with_changes(value=n) for o, n in told])
    code = f"{name} = {tree.module.code_for_node(begins)}\n"
    first = len(inner.body.body) - len(without_docstring(inner.body))
    by_name = arg.keyword is not None
    return {
        arg: [argument_of(o.value, n if by_name else None) for o, n in told],
        param: [cst.Param(one) for _, one in told],
        inner.body: lambda now: now.with_changes(
            body=[*now.body[:first], cst.parse_statement(code), *now.body[first:]]
        ),
    }


def _class_of(tree: Tree, function: cst.FunctionDef) -> cst.ClassDef | None:
    """A class that does what a function and the one that it returns do."""
    body = (
        statements_of(function.body)
        if isinstance(function.body, cst.IndentedBlock)
        else []
    )
    last = only_small(body[-1]) if len(body) > 1 else None
    inner = body[-2] if isinstance(last, cst.Return) else None
    name = camel(re.sub(_WORDS, "", function.name.value))
    if (
        not isinstance(inner, cst.FunctionDef)
        or not isinstance(last, cst.Return)
        or tree.parent(function) is not tree.module
        or function.decorators
        or inner.decorators
        or tree.resolver.definition(last.value) is not inner
        or len(tree.loads_of(inner)) != 1
        or is_model_fn(inner)
        or not MAKES_LAYERS.search(tree.excerpt(function))
        or any(any(walk(one, cst.Return, cst.FunctionDef)) for one in body[:-2])
        or any(walk(inner, cst.Nonlocal))
        or name in tree.resolver.scopes.module_scope.bindings
    ):
        return None
    scope = tree.resolver.scopes.opened[function]
    kept = [
        node
        for node in walk(inner, cst.Name)
        if node in tree.resolver.scopes.loads
        and any(one.scope is scope for one in tree.resolver.bindings(node))
    ]
    held = cst.Name("self")
    places = {node: cst.Attribute(held, cst.Name(node.value)) for node in kept}
    calls = inner.visit(Put(places, inner))
    names = dict.fromkeys(node.value for node in kept)
    doc = [one for one in body[:1] if is_docstring(one)]
    begins: list[Statement] = [*body[len(doc) : -2]]
    begins += [cst.parse_statement(f"self.{one} = {one}\n") for one in names]
    assert isinstance(calls, cst.FunctionDef)
    if not begins:
        return None
    init = function.with_changes(
        name=cst.Name("__init__"),
        params=_with_self(function.params),
        body=cst.IndentedBlock(begins),
        leading_lines=[cst.EmptyLine(indent=False)] if doc else [],
    )
    call = calls.with_changes(
        name=cst.Name("__call__"),
        params=_with_self(inner.params),
        leading_lines=[cst.EmptyLine(indent=False)],
    )
    return cst.ClassDef(
        cst.Name(name),
        cst.IndentedBlock([*doc, init, call]),
        [cst.Arg(cst.Name("object"))],
        leading_lines=function.leading_lines,
    )


def _with_self(params: cst.Parameters) -> cst.Parameters:
    return params.with_changes(params=[cst.Param(cst.Name("self")), *params.params])


def _uses(
    function: cst.FunctionDef,
    new: cst.Name,
    files: Sequence[ParsedModule],
    facts: ProjectFacts,
) -> list[_Places] | None:
    """The new name where the function is called or imported; None if it is more."""
    name = function.name.value
    found: list[_Places] = []
    for parsed in files:
        tree = Tree(parsed.module, parsed.resolver)
        edits: _Places = {}
        for word in tree.each(cst.Name):
            above = tree.parent(word)
            if word.value != name or word is function.name:
                continue
            if isinstance(above, cst.ImportAlias) and above.asname is None:
                edits[word] = new
                continue
            whole = above if isinstance(above, cst.Attribute) else word
            called = tree.parent(whole)
            told = facts.definition(whole, parsed)
            if told is None or told.node is not function:
                return None
            if not isinstance(called, cst.Call) or called.func is not whole:
                return None
            edits[word] = new
        found.append(edits)
    return found
