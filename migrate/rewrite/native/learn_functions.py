"""Model functions of tf.contrib.learn, as tf.estimator would be given them.

They have any names for features and labels, may do without a mode, and may return
three values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import libcst as cst

from ...code.edits import changed
from ...code.tree import Tree, walk
from ...project.facts import ParsedModule, ProjectFacts
from .code import Refused
from .tables import exports
from .task import alias_of

_ESTIMATOR = "tf.contrib.learn.Estimator"
_GIVEN = ("mode", "params", "config", "model_dir")
_PARTS = ("predictions", "loss", "train_op")
_EQUAL = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))


def with_usual_model_fns(
    files: Sequence[ParsedModule], facts: ProjectFacts
) -> list[ParsedModule]:
    """The files with `features, labels, mode` taken and specifications returned."""
    edits: dict[ParsedModule, dict[cst.CSTNode, object]] = {one: {} for one in files}
    homes = {node: one for one in files for node in one.nodes}
    exported = any(exports(one.source.text) for one in files)
    for parsed in files:
        for func, call in parsed.resolver.scopes.calls.items():
            symbol = parsed.resolver.resolve(func) or ""
            if symbol.endswith(".ModelFnOps") and not exported:
                edits[parsed] |= {one: None for one in call.args if _is_served(one)}
            if symbol != _ESTIMATOR:
                continue
            named = [
                a for a in call.args if a.keyword and a.keyword.value == "model_fn"
            ]
            for arg in named or call.args[:1]:
                for made in _functions(arg.value, parsed, facts):
                    home = homes.get(made)
                    if home is not None and not _is_called(home, made):
                        edits[home] |= _usual(home, made)
    return [changed(one, facts, edits[one]) if edits[one] else one for one in files]


def _is_served(arg: cst.Arg) -> bool:
    """It says what an export answers, besides the predictions."""
    return arg.keyword is not None and arg.keyword.value == "output_alternatives"


def _functions(
    node: cst.BaseExpression, parsed: ParsedModule, facts: ProjectFacts
) -> Iterator[cst.FunctionDef]:
    """The functions that an Estimator may be given, also those that others return."""
    node = Tree(parsed.module, parsed.resolver).value(node) or node
    maker = node.func if isinstance(node, cst.Call) else node
    told = facts.definition(maker, parsed)
    found = told.node if told is not None else None
    if not isinstance(found, cst.FunctionDef):
        return
    if maker is node:
        yield found
        return
    inner = {one.name.value: one for one in walk(found.body, cst.FunctionDef)}
    for one in walk(found.body, cst.Return):
        if isinstance(one.value, cst.Name) and one.value.value in inner:
            yield inner[one.value.value]


def _is_called(parsed: ParsedModule, made: cst.FunctionDef) -> bool:
    """Something of the file calls a function itself."""
    return any(
        parsed.resolver.definition(func) is made
        for func in parsed.resolver.scopes.calls
    )


def _usual(parsed: ParsedModule, made: cst.FunctionDef) -> dict[cst.CSTNode, object]:
    """What becomes of the arguments of a function, and of what it returns."""
    params = made.params.params
    names = [one.name.value for one in params]
    if len(names) < 2 or {*names[:2]} & {"self", *_GIVEN}:
        return {}
    edits: dict[cst.CSTNode, object] = {}
    tree = Tree(parsed.module, parsed.resolver)
    scope = parsed.resolver.scopes.opened[made]
    for old, name in zip(names, ("features", "labels"), strict=False):
        if old != name and name in scope.bindings:
            why = f"`{made.name.value}` gives `{name}` another meaning: rename it"
            raise Refused(why)
        for one in walk(made, cst.Name) if old != name else ():
            if one.value == old and _means(tree, one, made):
                edits[one] = cst.Name(name)
    if "mode" not in names:
        if "mode" in scope.bindings:
            raise Refused(f"`{made.name.value}` has a `mode` of its own: rename it")
        edits[made.params] = _with_mode
    alias = alias_of(parsed)
    known = rf"^\s*import tensorflow(\.compat\.v1)?( as {alias})?\s*$"
    returns = walk(made.body, cst.Return) if re.search(known, tree.text, re.M) else ()
    for returned in returns:
        value = returned.value
        if (
            isinstance(value, cst.Tuple)
            and len(value.elements) == len(_PARTS)
            and tree.function(returned) is made
        ):
            edits[value] = _spec(alias)
    return edits


def _means(tree: Tree, node: cst.Name, made: cst.FunctionDef) -> bool:
    """A name is one of the function's own."""
    above = tree.parent(node)
    if node in tree.resolver.scopes.loads:
        own = tree.resolver.scopes.opened[made]
        return any(one.scope is own for one in tree.resolver.bindings(node))
    if isinstance(above, cst.Param):
        return above in made.params.params
    named = isinstance(above, cst.Attribute) or (
        isinstance(above, cst.Arg) and above.keyword is node
    )
    return not named and tree.function(node) is made


def _with_mode(now: cst.Parameters) -> cst.Parameters:
    """Parameters with a mode behind features and labels."""
    default = cst.MaybeSentinel.DEFAULT
    first = [one.with_changes(default=None, equal=default) for one in now.params[:2]]
    return now.with_changes(
        params=[*first, cst.Param(cst.Name("mode")), *now.params[2:]]
    )


def _spec(alias: str) -> Callable[[cst.Tuple], cst.Call]:
    """What makes a specification of three values, once these are changed."""

    def made(now: cst.Tuple) -> cst.Call:
        func = cst.parse_expression(f"{alias}.contrib.learn.ModelFnOps")
        given = [cst.Arg(cst.Name("mode"))]
        given += [
            cst.Arg(one.value, cst.Name(name), equal=_EQUAL)
            for name, one in zip(_PARTS, now.elements, strict=True)
        ]
        return cst.Call(func, given)

    return made
