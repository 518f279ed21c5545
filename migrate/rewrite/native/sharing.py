"""Layers that share their variables because scopes and names say so.

TensorFlow 1 shares the variables of two layers of one name in one scope where `reuse`
asks for it. In Keras that is one layer, called twice.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...model.spelling import snake
from ...names.ast_nodes import expression_of
from ...names.ast_nodes import walk as walk_ast
from ..layers.spelling import FLAGS
from .code import Refused, dotted, literal
from .text import attribute_of_self, defaults_of, names_in, parameters_of

if TYPE_CHECKING:
    from .classes import Lifted

# Parameters that say whether a model trains.
_FLAGS = {*FLAGS, "mode"}

_NAMED = ("name", "scope")
# What is filled in, in a text that is formatted.
_FILLED = re.compile(r"%[-+ #0-9.]*[a-zA-Z%]|\{[^{}]*\}")
# Layers whose variables have the names of columns, and the functions they stand for.
_COLUMNS = {"dense_features": "input_layer", "linear_model": "linear_model"}
# Layers without variables.
_EMPTY = re.compile(r"\.(Dropout|Flatten|ReLU|\w*Pooling\w*|dropout|flatten)\b")


class _Part(NamedTuple):
    """A scope or a name of a variable's place; unknown is what is no literal."""

    text: str
    known: bool

    def may_be(self, other: _Part) -> bool:
        if self.text == other.text or (self.known and other.known):
            return self.text == other.text
        (start, end), (other_start, other_end) = self._ends(), other._ends()
        shared = min(len(start), len(other_start))
        if start[:shared] != other_start[:shared]:
            return False
        return end.endswith(other_end) or other_end.endswith(end)

    def _ends(self) -> tuple[str, str]:
        """What it begins and ends with for certain: of ``"conv_%d" % i``, `conv_`."""
        if self.known:
            return self.text, self.text
        pieces = _pieces(expression_of(self.text))
        return pieces[0], pieces[-1]

    def spelled(self, fillers: Sequence[str]) -> list[str]:
        """What it may be, with some texts for what is not known."""
        kind, _, number = self.text.rpartition(" ")
        if self.known and number == self.text:
            return [self.text]
        if self.known:
            # A layer without a name, or a scope.
            return [kind, f"{kind}_1"] if " " not in kind else [*fillers]
        pieces = _pieces(expression_of(self.text))
        return [one.join(pieces) for one in fillers]


_Place = tuple[_Part, ...]


def _pieces(node: ast.expr) -> list[str]:
    """What is certain in a text, with an empty one for each part that is not."""
    if isinstance(node, ast.Constant):
        return [str(node.value)]
    if isinstance(node, ast.JoinedStr):
        return [piece for value in node.values for piece in _pieces(value)]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _pieces(node.left) + _pieces(node.right)
    if isinstance(node, ast.BinOp) and isinstance(node.left, ast.Constant):
        return _FILLED.split(str(node.left.value))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        held = node.func.value
        if isinstance(held, ast.Constant) and node.func.attr == "format":
            return _FILLED.split(str(held.value))
    return [""]


def merge_shared(classes: Sequence[Lifted]) -> None:
    """Lets attributes that share all of their variables be one; else raises Refused.

    Those share them, too, that are called in branches on what the call is told.
    """
    by_name = {one.name: one for one in classes}
    for one in classes:
        _check_rounds(one)
    for one in classes:
        while _merged(one, by_name):
            one.take()


def _check_rounds(one: Lifted) -> None:
    """Refuses layers of a loop whose rounds have the same variables."""
    for attribute, value in one.attributes().items():
        made = one.appended(attribute) if isinstance(value, ast.List) else []
        named = [k.value for call in made for k in call.keywords if k.arg in _NAMED]
        alike = any(isinstance(name, ast.Constant) for name in named)
        for use in one.uses(attribute) if made else ():
            targets: set[str] | None = None
            scopes: list[ast.Call] = []
            for block in one.around(use):
                if isinstance(block, ast.For):
                    targets = {n.id for n in names_in(block.target)}
                    scopes = []
                elif isinstance(block, ast.With):
                    entered = [item.context_expr for item in block.items]
                    scopes += [
                        call
                        for call in entered
                        if isinstance(call, ast.Call)
                        and one.symbol(one.of(call.func)) == "tf.variable_scope"
                    ]
            if targets is None or not (scopes or alike):
                continue
            read = {
                n.id for scope in scopes for part in scope.args for n in names_in(part)
            }
            if not read & targets:
                raise Refused(
                    f"the rounds of a loop share the variables of `{attribute}`"
                )


def _merged(one: Lifted, classes: Mapping[str, Lifted]) -> bool:
    """Makes one attribute of two."""
    places = Places(one, classes, {})
    found = places.attributes()
    for place, (name, first) in enumerate(found):
        for other, second in found[place + 1 :]:
            if name == other or not any(_alike(a, b) for a in first for b in second):
                continue
            if _of_kinds(places, name, other):
                continue
            made = one.attributes()
            same = first == second and (
                all(part.known for p in first for part in p)
                or places.within(name) == places.within(other) is not None
            )
            if same and _read_again(one, places, name, other):
                return True
            if (
                not {name, other} <= {*made}
                or not same
                or (_said(one, made[name], classes) != _said(one, made[other], classes))
            ):
                raise Refused(
                    f"`{name}` and `{other}` of `{one.name}` may share variables"
                )
            for node in walk_ast(one.call):
                if attribute_of_self(node) == other:
                    one.source.put(node, f"self.{name}")
            statement = one.statement(made[other])
            one.source.drop(statement)
            return True
    return False


def _of_kinds(places: Places, name: str, other: str) -> bool:
    """A variable beside a layer, which has its variables in a scope of its name."""
    alone = {name, other} - {*places.variables}
    if len(alone) != 1 or alone & {*places.inner}:
        return False
    (variable,) = {name, other} - alone
    return "/" not in variable


def _read_again(one: Lifted, places: Places, name: str, other: str) -> bool:
    """Reads a variable under the name that it has where it is asked for again."""
    first, second = places.variables.get(name), places.variables.get(other)
    if first is None or second is None or one.of(first) != one.of(second):
        return False
    statement = one.above[first]
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    held = dotted(statement.targets[0])
    if one.value_of(held) is not first:
        return False
    one.source.put(second, held)
    return True


def _said(
    one: Lifted, made: ast.expr, classes: Mapping[str, Lifted]
) -> tuple[str, dict[str, str]]:
    """What makes an object, without what only asks for variables that are there."""
    inner = classes.get(dotted(made.func)) if isinstance(made, ast.Call) else None
    if inner is None or not isinstance(made, ast.Call):
        return one.of(made), {}
    names = parameters_of(inner.init)[1:]
    given = _given(made, names)
    stored = {
        value.id: name
        for name, value in inner.attributes().items()
        if isinstance(value, ast.Name)
    }
    for name in names:
        held = stored.get(name)
        reads = [n for n in walk_ast(inner.call) if attribute_of_self(n) == held]
        within = [inner.above[n] for n in reads if held is not None]
        loads = [n for n in names_in(inner.init) if n.id == name]
        if within and len(loads) == 1 and _asks_for_reuse(within):
            given.pop(name, None)
    return inner.name, {name: one.of(value) for name, value in given.items()}


def _asks_for_reuse(above: Sequence[ast.AST]) -> bool:
    return all(isinstance(n, ast.keyword) and n.arg == "reuse" for n in above)


def _given(made: ast.Call, names: Sequence[str]) -> dict[str, ast.expr]:
    found = dict(zip(names, made.args, strict=False))
    return found | {str(one.arg): one.value for one in made.keywords}


def has_mode_branches(lifted: Lifted) -> bool:
    """The call asks in a branch what it is told besides its inputs."""
    return any(
        isinstance(one, ast.If) and asks_for_mode(lifted, one)
        for one in walk_ast(lifted.call)
    )


def asks_for_mode(lifted: Lifted, block: ast.If) -> bool:
    """A branch on a parameter of the call that is no input."""
    told = {*parameters_of(lifted.call)[2:]}
    return bool({one.id for one in names_in(block.test)} & told & _FLAGS)


def _alike(first: _Place, second: _Place) -> bool:
    return len(first) == len(second) and all(
        a.may_be(b) for a, b in zip(first, second, strict=True)
    )


class Places:
    """Where the variables of a class are, for the arguments of its constructor."""

    def __init__(
        self,
        lifted: Lifted,
        classes: Mapping[str, Lifted],
        given: Mapping[str, ast.expr],
        scopes: Sequence[str] = (),
    ) -> None:
        self.lifted = lifted
        self.classes = classes
        self.given = given
        # How many unnamed layers of a kind there are in a scope.
        self.counts: dict[str, int] = {}
        self.scope: _Place = tuple(_Part(one, known=True) for one in scopes)
        self.found: list[tuple[str, list[_Place]]] = []
        self.variables: dict[str, ast.Call] = {}
        # Those of attributes that are objects of such classes, too.
        self.inner: dict[str, Places] = {}

    def attributes(self) -> list[tuple[str, list[_Place]]]:
        """Attributes in the order of their calls, and the places of their variables."""
        self._block(self.lifted.call.body)
        return self.found

    def within(self, attribute: str) -> _Place | None:
        """The scope that an object is called in, if it is known."""
        inner = self.inner.get(attribute)
        known = inner is not None and all(part.known for part in inner.scope)
        return inner.scope if inner is not None and known else None

    def places(self) -> list[_Place]:
        """All places."""
        return [place for _, places in self.attributes() for place in places]

    def _part(self, node: ast.expr | None) -> _Part:
        """A name, with what the constructor was given for its parameters."""
        if node is None:
            return _Part("", known=True)
        node = self._given_for(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            parts = self._part(node.left), self._part(node.right)
            if all(one.known for one in parts):
                return _Part("".join(one.text for one in parts), known=True)
        value = literal(ast.unparse(node))
        known = isinstance(value, str)
        return _Part(value if known else ast.unparse(node), known)

    def _given_for(self, node: ast.expr) -> ast.expr:
        attribute = attribute_of_self(node)
        if attribute is not None:
            stored = self.lifted.attributes().get(attribute)
            node = stored if isinstance(stored, ast.Name) else node
        if isinstance(node, ast.Name) and node.id in self.given:
            node = self.given[node.id]
        if isinstance(node, ast.Name):
            node = expression_of(self.lifted.value(node.id))
        return node

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
            if isinstance(statement, ast.If) and asks_for_mode(self.lifted, statement):
                # One of them is there in a graph: both count on from here.
                before, counts = dict(self.counts), []
                for block in blocks:
                    self.counts = dict(before)
                    self._block(block)
                    counts.append(self.counts)
                first, second = counts
                self.counts = {
                    kind: max(first.get(kind, 0), second.get(kind, 0))
                    for kind in first | second
                }
            elif any(blocks):
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
        for one in walk_ast(node, ast.Call):
            name = attribute_of_self(one.func)
            if name in ("get_variable", "new_variable"):
                self._variable(one, name)
                continue
            for attribute, value in self.lifted.attributes().items():
                if one in self.lifted.uses(attribute):
                    self._layer(attribute, value)

    def _variable(self, node: ast.Call, method: str) -> None:
        if method == "new_variable":
            return
        named = node.args[:1] + [k.value for k in node.keywords if k.arg == "name"]
        part = self._part(named[0] if named else None)
        name = f"variable {part.text} {node.lineno}"
        self.variables[name] = node
        self.found.append((name, [(*self.scope, part)]))

    def _layer(self, attribute: str, value: ast.expr) -> None:
        made = self.made(attribute, value)
        if made is None or _EMPTY.search(self.lifted.of(made)):
            return
        inner = self.classes.get(dotted(made.func))
        if inner is not None:
            said = defaults_of(inner.init) | {
                key: self._said(one)
                for key, one in _given(made, parameters_of(inner.init)[1:]).items()
            }
            own = inner.module is self.lifted.module
            places = Places(inner, self.classes if own else inner.module.known, said)
            places.scope, places.counts = self.scope, self.counts
            self.inner[attribute] = places
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
            if kind in _COLUMNS:
                count = f"_{number}" if number else ""
                part = _Part(f"{_COLUMNS[kind]}{count}", known=True)
                column = _Part("column", known=False)
                self.found.append((attribute, [(*self.scope, part, column)]))
                return
        self.found.append((attribute, [(*self.scope, part)]))

    def _said(self, node: ast.expr) -> ast.expr:
        """An argument, as the constructor of this class was given it."""
        if isinstance(node, ast.Name):
            return self.given.get(node.id, node)
        return node

    def made(self, attribute: str, value: ast.expr) -> ast.Call | None:
        """The call that makes a layer, or an element of a list of layers."""
        if isinstance(value, ast.Call):
            return value
        for one in walk_ast(self.lifted.init, ast.Call):
            if (
                isinstance(one.func, ast.Attribute)
                and attribute_of_self(one.func.value) == attribute
                and one.args
                and isinstance(one.args[0], ast.Call)
            ):
                return one.args[0]
        return None
