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
from ...names.scopes import BindingKind
from ...project.facts import ParsedModule, ProjectFacts
from ..layers.model_functions import is_model_fn
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
    found, asked = _Functions(files, facts), list[str]()
    exported = any(exports(one.source.text) for one in files)
    for parsed in files:
        for func, call in parsed.resolver.scopes.calls.items():
            symbol = parsed.resolver.resolve(func) or ""
            if symbol.endswith(".ModelFnOps") and not exported:
                edits[parsed] |= {one: None for one in call.args if _is_served(one)}
            if symbol == _ESTIMATOR or _makes_own(parsed, func):
                for home, made in found.of_call(call, "model_fn", parsed):
                    edits[home] |= _usual(home, made)
            if symbol == _ESTIMATOR:
                asked.append(f"`{Tree(parsed.module, parsed.resolver).code(call)}`")
    new = [changed(one, facts, edits[one]) if edits[one] else one for one in files]
    if asked and not any(is_model_fn(node) for one in new for node in one.nodes):
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


_Found = tuple[ParsedModule, cst.FunctionDef]


class _Functions:
    """Finds the functions of a program that Estimators may be given."""

    def __init__(self, files: Sequence[ParsedModule], facts: ProjectFacts) -> None:
        self.files, self.facts = files, facts
        self.homes = {node: one for one in files for node in one.nodes}

    def of_call(
        self, call: cst.Call, name: str, parsed: ParsedModule, place: int = 0
    ) -> Iterator[_Found]:
        """Those that one argument of a call may be, and that nothing else calls."""
        named = [one for one in call.args if one.keyword and one.keyword.value == name]
        plain = [one for one in call.args if not one.keyword and not one.star]
        for arg in named or plain[place : place + 1]:
            for home, made in self._of(arg.value, parsed, 0):
                if not self._is_called(made):
                    yield home, made

    def _of(
        self, node: cst.BaseExpression | None, parsed: ParsedModule, depth: int
    ) -> Iterator[_Found]:
        resolver = parsed.resolver
        node = Tree(parsed.module, resolver).value(node)
        if node is None or depth > 8:
            return
        maker = node.func if isinstance(node, cst.Call) else node
        told = self.facts.definition(maker, parsed)
        found: list[cst.BaseExpression | None] = []
        if isinstance(node, cst.IfExp):
            found = [node.body, node.orelse]
        elif resolver.qualified(maker) == "functools.partial":
            found = [one.value for one in node.args[:1]]  # type: ignore[attr-defined]
        for one in found:
            yield from self._of(one, parsed, depth + 1)
        defined: cst.CSTNode | None = told.node if told is not None else None
        if isinstance(node, cst.Attribute) and defined is None:
            methods = (one for one in self.homes if _is_method(one, node.attr.value))
            defined = next(methods, None)
        if isinstance(defined, cst.FunctionDef) and defined in self.homes:
            home = self.homes[defined]
            if maker is node:
                yield home, defined
                return
            for returned in walk(defined.body, cst.Return):
                yield from self._of(returned.value, home, depth + 1)
        elif isinstance(node, cst.Name):
            yield from self._given(node, parsed)

    def _given(self, node: cst.Name, parsed: ParsedModule) -> Iterator[_Found]:
        """Functions that calls of the file give as an argument."""
        for bound in parsed.resolver.bindings(node):
            if bound.kind is not BindingKind.PARAMETER:
                continue
            holder = bound.scope.node
            if not isinstance(holder, cst.FunctionDef):
                continue
            names = [one.name.value for one in holder.params.params]
            for func, call in parsed.resolver.scopes.calls.items():
                if parsed.resolver.definition(func) is holder and node.value in names:
                    place = names.index(node.value)
                    yield from self.of_call(call, node.value, parsed, place)

    def _is_called(self, made: cst.FunctionDef) -> bool:
        """Something of the program calls a function itself."""
        return any(
            one.resolver.definition(func) is made
            for one in self.files
            for func in one.resolver.scopes.calls
        )


def _is_method(node: cst.CSTNode, name: str) -> bool:
    """A function of a class, by its name."""
    return (
        isinstance(node, cst.FunctionDef)
        and node.name.value == name
        and [one.name.value for one in node.params.params[:1]] == ["self"]
    )


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
            why = f"`{made.name.value}` gives `{name}` another meaning: rename it"
            raise Refused(why)
        for one in walk(made, cst.Name) if old != name else ():
            if one.value == old and _means(tree, one, made):
                edits[one] = cst.Name(name)
    if "mode" not in names:
        if "mode" in scope.bindings:
            raise Refused(f"`{made.name.value}` has a `mode` of its own: rename it")
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
