"""Layers that share their variables because scopes and names say so.

TensorFlow 1 shares the variables of two layers of one name in one scope where `reuse`
asks for it. In Keras that is one layer, called twice.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..interp.spelling import snake
from .code import Refused, dotted, literal
from .text import attribute_of_self, parameters_of

if TYPE_CHECKING:
    from .classes import Lifted

__all__ = ["merge_shared", "places_of"]

_NAMED = ("name", "scope")
# Layers without variables.
_EMPTY = re.compile(r"\.(Dropout|Flatten|ReLU|\w*Pooling\w*|dropout|flatten)\b")


class _Part(NamedTuple):
    """A scope or a name of a variable's place; unknown is what is no literal."""

    text: str
    known: bool

    def may_be(self, other: _Part) -> bool:
        return self.text == other.text or not (self.known and other.known)


_Place = tuple[_Part, ...]


def merge_shared(classes: Sequence[Lifted]) -> None:
    """Lets attributes that share all of their variables be one; else raises Refused."""
    by_name = {one.name: one for one in classes}
    for one in classes:
        while _merged(one, by_name):
            one.take()


def places_of(
    lifted: Lifted, classes: Mapping[str, Lifted], made: ast.Call
) -> list[_Place]:
    """Where an object of a class has its variables, in the scope of its call."""
    given = dict(zip(parameters_of(lifted.init)[1:], made.args, strict=False))
    given |= {str(one.arg): one.value for one in made.keywords}
    return _Places(lifted, classes, given).places()


def _merged(one: Lifted, classes: Mapping[str, Lifted]) -> bool:
    """Makes one attribute of two."""
    found = _Places(one, classes, {}).attributes()
    for place, (name, first) in enumerate(found):
        for other, second in found[place + 1 :]:
            if name == other or not any(_alike(a, b) for a in first for b in second):
                continue
            made = one.attributes()
            same = first == second and all(part.known for p in first for part in p)
            if not same or one.of(made[name]) != one.of(made[other]):
                raise Refused(
                    f"`{name}` and `{other}` of `{one.name}` may share variables"
                )
            for node in ast.walk(one.call):
                if attribute_of_self(node) == other:
                    one.source.put(node, f"self.{name}")
            statement = one.statement(made[other])
            one.source.drop(statement)
            return True
    return False


def _alike(first: _Place, second: _Place) -> bool:
    return len(first) == len(second) and all(
        a.may_be(b) for a, b in zip(first, second, strict=True)
    )


class _Places:
    """Where the variables of a class are, for the arguments of its constructor."""

    def __init__(
        self,
        lifted: Lifted,
        classes: Mapping[str, Lifted],
        given: Mapping[str, ast.expr],
    ) -> None:
        self.lifted = lifted
        self.classes = classes
        self.given = given
        # How many unnamed layers of a kind there are in a scope.
        self.counts: dict[str, int] = {}
        self.scope: _Place = ()
        self.found: list[tuple[str, list[_Place]]] = []

    def attributes(self) -> list[tuple[str, list[_Place]]]:
        """Attributes in the order of their calls, and the places of their variables."""
        self._block(self.lifted.call.body)
        return self.found

    def places(self) -> list[_Place]:
        """All places."""
        return [place for _, places in self.attributes() for place in places]

    def _part(self, node: ast.expr | None) -> _Part:
        """A name, with what the constructor was given for its parameters."""
        lifted = self.lifted
        if node is None:
            return _Part("", known=True)
        attribute = attribute_of_self(node)
        if attribute is not None:
            stored = lifted.attributes().get(attribute)
            node = stored if isinstance(stored, ast.Name) else node
        if isinstance(node, ast.Name) and node.id in self.given:
            node = self.given[node.id]
        if isinstance(node, ast.Name):
            node = ast.parse(lifted.value(node.id), mode="eval").body
        value = literal(ast.unparse(node))
        known = isinstance(value, str)
        return _Part(value if known else ast.unparse(node), known)

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if isinstance(statement, ast.With):
                self._with(statement)
                continue
            for name in ("test", "iter"):
                part = getattr(statement, name, None)
                if part is not None:
                    self._calls(part)
            blocks = [getattr(statement, name, []) for name in ("body", "orelse")]
            if any(blocks):
                for block in blocks:
                    self._block(block)
            else:
                self._calls(statement)

    def _with(self, node: ast.With) -> None:
        scope, counts = self.scope, self.counts
        for item in node.items:
            entered = item.context_expr
            if not isinstance(entered, ast.Call):
                continue
            if self.lifted.symbol(self.lifted.of(entered.func)) != "tf.variable_scope":
                continue
            named = entered.args[:1] + [
                k.value for k in entered.keywords if k.arg == "name_or_scope"
            ]
            part = self._part(named[0] if named else None)
            if part.text == "None":
                part = _Part(f"a scope {node.lineno}", known=True)
            self.scope, self.counts = (*self.scope, part), {}
        self._block(node.body)
        self.scope, self.counts = scope, counts

    def _calls(self, node: ast.AST) -> None:
        for one in ast.walk(node):
            if not isinstance(one, ast.Call):
                continue
            name = attribute_of_self(one.func)
            if name in ("get_variable", "new_variable"):
                self._variable(one, name)
                continue
            for attribute, value in self.lifted.attributes().items():
                if any(use.node is one for use in self.lifted.uses(attribute)):
                    self._layer(attribute, value)

    def _variable(self, node: ast.Call, method: str) -> None:
        if method == "new_variable":
            return
        named = node.args[:1] + [k.value for k in node.keywords if k.arg == "name"]
        part = self._part(named[0] if named else None)
        self.found.append(
            (f"variable {part.text} {node.lineno}", [(*self.scope, part)])
        )

    def _layer(self, attribute: str, value: ast.expr) -> None:
        made = self._made(attribute, value)
        if made is None or _EMPTY.search(self.lifted.of(made)):
            return
        inner = self.classes.get(dotted(made.func))
        if inner is not None:
            names = parameters_of(inner.init)[1:]
            given = dict(zip(names, made.args, strict=False))
            given |= {str(k.arg): k.value for k in made.keywords}
            said = {key: self._said(one) for key, one in given.items()}
            places = _Places(inner, self.classes, said)
            places.scope, places.counts = self.scope, self.counts
            self.found.append((attribute, places.places()))
            return
        if self.lifted.of(made.func).endswith(".named"):
            (inner_call,) = made.args
            assert isinstance(inner_call, ast.Call)
            made = inner_call
        named = [k.value for k in made.keywords if k.arg in _NAMED]
        if named and literal(self.lifted.of(named[0])) is not None:
            part = self._part(named[0])
        else:
            kind = snake(dotted(made.func).rpartition(".")[2])
            if kind == "function_layer":
                kind = self.lifted.of(made.args[0]).rpartition(".")[2]
            number = self.counts.get(kind, 0)
            self.counts[kind] = number + 1
            part = _Part(f"{kind} {number}", known=True)
        self.found.append((attribute, [(*self.scope, part)]))

    def _said(self, node: ast.expr) -> ast.expr:
        """An argument, as the constructor of this class was given it."""
        if isinstance(node, ast.Name):
            return self.given.get(node.id, node)
        return node

    def _made(self, attribute: str, value: ast.expr) -> ast.Call | None:
        """The call that makes a layer, or an element of a list of layers."""
        if isinstance(value, ast.Call):
            return value
        for one in ast.walk(self.lifted.init):
            if (
                isinstance(one, ast.Call)
                and isinstance(one.func, ast.Attribute)
                and attribute_of_self(one.func.value) == attribute
                and one.args
                and isinstance(one.args[0], ast.Call)
            ):
                return one.args[0]
        return None
