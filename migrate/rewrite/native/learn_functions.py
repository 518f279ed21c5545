"""Model functions of tf.contrib.learn, as tf.estimator would be given them.

They have any names for features and labels, may do without a mode, and may return
three values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import libcst as cst

from ...code.edits import changed
from ...code.tree import Tree, walk
from ...project.facts import ParsedModule, ProjectFacts
from ..layers.model_functions import is_model_fn
from .code import Refused
from .origins import Origins
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
    origins, asked = Origins(files), list[str]()
    exported = any(exports(one.source.text) for one in files)
    for parsed in files:
        for func, call in parsed.resolver.scopes.calls.items():
            symbol = parsed.resolver.resolve(func) or ""
            if symbol.endswith(".ModelFnOps") and not exported:
                edits[parsed] |= {one: None for one in call.args if _is_served(one)}
            if symbol == _ESTIMATOR or _makes_own(parsed, func):
                for home, made in _given(call, parsed, origins):
                    edits[home] |= _usual(home, made)
            if symbol == _ESTIMATOR:
                asked.append(f"`{Tree(parsed.module, parsed.resolver).code(call)}`")
    new = [changed(one, facts, edits[one]) if edits[one] else one for one in files]
    if asked and not any(
        is_model_fn(node) for one in new for node in one.each(cst.FunctionDef)
    ):
        why = "of a function that is not seen: give one that is defined by its name"
        raise Refused(f"{asked[0].splitlines()[0]} {why}")
    return new


def _is_served(arg: cst.Arg) -> bool:
    """It says what an export answers, besides the predictions."""
    return arg.keyword is not None and arg.keyword.value == "output_alternatives"


def _makes_own(parsed: ParsedModule, func: cst.CSTNode) -> bool:
    """A class of Estimators is made, or what it is made of: ``super().__init__``."""
    resolver = parsed.resolver
    made: cst.CSTNode | None = resolver.definition(func)
    if isinstance(func, cst.Attribute) and func.attr.value == "__init__":
        around = Tree(parsed.module, resolver).ancestors(func)
        made = next((one for one in around if isinstance(one, cst.ClassDef)), None)
    return isinstance(made, cst.ClassDef) and any(
        resolver.resolve(one.value) == _ESTIMATOR for one in made.bases
    )


def _given(
    call: cst.Call, parsed: ParsedModule, origins: Origins
) -> Iterator[tuple[ParsedModule, cst.FunctionDef]]:
    """The functions that an Estimator may be given, and that nothing else calls."""
    named = [
        one for one in call.args if one.keyword and one.keyword.value == "model_fn"
    ]
    for arg in named or call.args[:1]:
        for home, made in origins.of(arg.value, parsed):
            if isinstance(made, cst.FunctionDef) and not any(
                one.resolver.definition(func) is made
                for one in origins.files
                for func in one.resolver.scopes.calls
            ):
                yield home, made


def _usual(parsed: ParsedModule, made: cst.FunctionDef) -> dict[cst.CSTNode, object]:
    """What becomes of the arguments of a function, and of what it returns."""
    params = made.params.params
    names = [one.name.value for one in params]
    own = names[:1] == ["self"]
    names = names[own:]
    if len(names) < 2 or {*names[:2]} & {*_GIVEN}:
        return {}
    edits: dict[cst.CSTNode, object] = {}
    tree = Tree(parsed.module, parsed.resolver)
    scope = parsed.resolver.scopes.opened[made]
    for old, name in zip(names, ("features", "labels"), strict=False):
        if old != name and name in scope.bindings:
            why = f"gives `{name}` another meaning: name that otherwise"
            raise Refused(f"`{made.name.value}` {why}")
        for one in walk(made, cst.Name) if old != name else ():
            if one.value == old and _means(tree, one, made):
                edits[one] = cst.Name(name)
    if "mode" not in names:
        if "mode" in scope.bindings:
            raise Refused(
                f"`{made.name.value}` has a `mode` of its own: name that otherwise"
            )
        edits[made.params] = partial(_with_mode, 2 + own)
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


def _with_mode(place: int, now: cst.Parameters) -> cst.Parameters:
    """Parameters with a mode behind features and labels."""
    default = cst.MaybeSentinel.DEFAULT
    first = [
        one.with_changes(default=None, equal=default) for one in now.params[:place]
    ]
    mode = cst.Param(cst.Name("mode"))
    return now.with_changes(params=[*first, mode, *now.params[place:]])


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
