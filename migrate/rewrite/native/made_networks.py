"""Functions that return a network, as a function of their own: classes."""

from __future__ import annotations

import re
from collections.abc import Sequence

import libcst as cst

from ...code.edits import Put, changed
from ...code.statements import is_docstring
from ...code.texts import camel
from ...code.tree import Statement, Tree, only_small, statements_of, walk
from ...project.facts import ParsedModule, ProjectFacts
from ..layers.model_functions import is_model_fn
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
