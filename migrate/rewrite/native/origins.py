"""Where values of a program come from, through names, arguments and files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from ...code.arguments import is_none
from ...code.tree import Tree, walk
from ...names.scopes import BindingKind
from ...project.facts import ParsedModule

_MOST = 8
# Methods that give the object that they are called of.
_SAME = ("fit", "partial_fit", "train")

# A file and an expression or a definition in it; None where it is not seen.
Origin = tuple[ParsedModule, cst.CSTNode | None]


class Origins:
    """Follows values through the files of a program."""

    def __init__(self, files: Sequence[ParsedModule]) -> None:
        self.files = files
        # Methods of classes, of whatever class, by their names.
        self.methods = {
            made.name.value: (one, made)
            for one in files
            for made in one.each(cst.FunctionDef)
            if _parameters(made)[:1] == ["self"]
        }

    def of(
        self, node: cst.BaseExpression | None, parsed: ParsedModule, depth: int = 0
    ) -> Iterator[Origin]:
        """What an expression may be: calls, functions, classes, plain values.

        A partial is the function that it is of, ``self`` the class around.
        """
        value = Tree(parsed.module, parsed.resolver).value(node)
        if value is None or depth > _MOST:
            yield parsed, None
            return
        found: list[tuple[cst.BaseExpression | None, ParsedModule]] = []
        callee = value.func if isinstance(value, cst.Call) else value
        home, defined = self.defined(callee, parsed)
        if isinstance(value, cst.IfExp):
            found = [(value.body, parsed), (value.orelse, parsed)]
        elif not isinstance(value, cst.Call) and defined is not None:
            yield home, defined
        elif isinstance(value, cst.Call):
            same = isinstance(callee, cst.Attribute) and callee.attr.value in _SAME
            if same and isinstance(callee, cst.Attribute):
                found = [(callee.value, parsed)]
            elif parsed.resolver.qualified(callee) == "functools.partial":
                found = [(one.value, parsed) for one in value.args[:1]]
            elif isinstance(defined, cst.FunctionDef):
                returns = walk(defined.body, cst.Return)
                found = [(one.value, home) for one in returns]
            else:
                yield parsed, value
        elif isinstance(value, cst.Name):
            for bound in parsed.resolver.bindings(value):
                if bound.kind is BindingKind.PARAMETER:
                    yield from self._given(value, parsed, bound.scope.node, depth)
                elif bound.kind is not BindingKind.ASSIGN:
                    yield parsed, None
                elif not is_none(bound.value):
                    found.append((bound.value, parsed))
        elif isinstance(value, cst.Attribute):
            found = [*self._set_to(value.attr.value)]
            if not found:
                yield parsed, None
        else:
            yield parsed, None if isinstance(value, cst.Subscript) else value
        for one, where in found:
            yield from self.of(one, where, depth + 1)

    def defined(
        self, node: cst.BaseExpression, parsed: ParsedModule
    ) -> tuple[ParsedModule, cst.FunctionDef | cst.ClassDef | None]:
        """The function or class of the program that a name, or a method's, means."""
        here = parsed.resolver.definition(node)
        told = parsed.resolver.qualified(node)
        if here is not None:
            return parsed, here
        if told is not None:
            path, _, name = told.rpartition(".")
            for one in self.files:
                scope = one.resolver.scopes.module_scope
                # A file of a package may also be imported as a script sees it.
                same = f".{one.name}".endswith(f".{path}")
                bound = scope.bindings.get(name, []) if same else []
                made = bound[0].node if len(bound) == 1 else None
                if isinstance(made, cst.FunctionDef | cst.ClassDef):
                    return one, made
        elif isinstance(node, cst.Attribute):
            return self.methods.get(node.attr.value, (parsed, None))
        return parsed, None

    def _given(
        self, name: cst.Name, parsed: ParsedModule, holder: cst.CSTNode, depth: int
    ) -> Iterator[Origin]:
        """What calls of a function give as an argument."""
        if name.value == "self":
            around = Tree(parsed.module, parsed.resolver).ancestors(name)
            made = (one for one in around if isinstance(one, cst.ClassDef))
            yield parsed, next(made, None)
            return
        found: list[tuple[cst.BaseExpression | None, ParsedModule]] = []
        for one in self.files:
            for call in one.resolver.scopes.calls.values():
                started = _started(self.defined(call.func, one)[1])
                if started is holder and isinstance(started, cst.FunctionDef):
                    given = _argument(call, started, name.value)
                    usual = [
                        (p.default, parsed)
                        for p in started.params.params
                        if p.name.value == name.value
                    ]
                    found += [(value, one) for value in given] or usual
        for value, where in found or [(None, parsed)]:
            yield from self.of(value, where, depth + 1)

    def _set_to(
        self, attribute: str
    ) -> Iterator[tuple[cst.BaseExpression, ParsedModule]]:
        """The values of ``self.attribute = value``, of whatever object."""
        for one in self.files:
            for node in one.each(cst.Assign):
                if not is_none(node.value):
                    targets = [target.target for target in node.targets]
                    if any(
                        isinstance(target, cst.Attribute)
                        and target.attr.value == attribute
                        for target in targets
                    ):
                        yield node.value, one


def _started(
    made: cst.FunctionDef | cst.ClassDef | None,
) -> cst.FunctionDef | cst.ClassDef | None:
    """A function itself, or the constructor of a class."""
    for one in made.body.body if isinstance(made, cst.ClassDef) else ():
        if isinstance(one, cst.FunctionDef) and one.name.value == "__init__":
            return one
    return made


def _argument(
    call: cst.Call, function: cst.FunctionDef, name: str
) -> list[cst.BaseExpression | None]:
    """What a call gives to a parameter, if anything; None where stars hide it."""
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == name:
            return [arg.value]
    names = _parameters(function)
    if name not in names:
        return [None]
    place = names.index(name) - (names[:1] == ["self"])
    plain = [arg for arg in call.args if arg.keyword is None]
    hidden = any(arg.star for arg in plain[: place + 1])
    return [None] if hidden else [arg.value for arg in plain[place : place + 1]]


def _parameters(made: cst.FunctionDef) -> list[str]:
    return [one.name.value for one in made.params.params]
