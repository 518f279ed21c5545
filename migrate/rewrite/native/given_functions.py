"""Functions that make layers stand where they are called, not where they are given."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import libcst as cst

from ...code.edits import changed
from ...code.statements import is_docstring
from ...code.tree import Tree, statements_of, walk
from ...project.facts import Definition, ParsedModule, ProjectFacts
from ..layers.model_functions import is_model_fn

_MOST = 12
_PARTIAL = ("functools.partial", "partial")
_LAYERS = (
    *("tf.layers.", "tf.contrib.layers.", "tf.contrib.slim.", "tf.keras.layers."),
    *("tf.get_variable", "tf.Variable", "tf.nn.rnn_cell.", "tf.contrib.rnn."),
)
# What is given to be called, and where its name is looked up: a file, or "".
_Told = tuple[str, str]
_Said = tuple[cst.BaseExpression | None, ParsedModule]


class _Use(NamedTuple):
    """Where a function is named: what calls it, and how many arguments come before."""

    parsed: ParsedModule
    call: cst.Call | None = None
    before: int = 0


def with_given_functions(
    files: Sequence[ParsedModule], facts: ProjectFacts
) -> list[ParsedModule]:
    """The files, whose functions name the networks that they were given to call.

    ``partial(model_fn, network=conv_net)`` becomes ``model_fn``, which calls
    ``conv_net``, if ``network`` is nothing else anywhere. So does an optimizer, and an
    entry of a dict: ``params['network'](features)``.
    """
    found = [*files]
    for _ in range(_MOST):
        places = _Finder(found, facts).places()
        if places is None:
            break
        found = [
            changed(one, facts, places) if places.keys() & {*one.nodes} else one
            for one in found
        ]
    return found


class _Finder:
    """Looks for one parameter, or entry, that is always the same function."""

    def __init__(self, files: Sequence[ParsedModule], facts: ProjectFacts) -> None:
        self.files = files
        self.facts = facts
        self.trees = [Tree(one.module, one.resolver) for one in files]

    def places(self) -> dict[cst.CSTNode, Any] | None:
        """What is to stand where, or None if there is nothing."""
        for parsed, tree in zip(self.files, self.trees, strict=True):
            for node in parsed.nodes:
                found = None
                if type(node) is cst.FunctionDef and _is_plain(tree, node):
                    for place in range(len(node.params.params)):
                        found = found or self._of_parameter(parsed, tree, node, place)
                elif type(node) is cst.Call:
                    found = self._of_entry(parsed, tree, node.func)
                elif type(node) is cst.Assign:
                    found = _of_object(tree, node)
                elif type(node) is cst.Lambda:
                    found = self._of_lambda(parsed, node)
                if found:
                    return found
        return None

    # -- parameters

    def _of_parameter(
        self, parsed: ParsedModule, tree: Tree, defined: cst.FunctionDef, place: int
    ) -> dict[cst.CSTNode, Any] | None:
        param = defined.params.params[place]
        loads = _loads(tree, defined, param.name.value)
        if not any(isinstance(tree.parent(one), cst.Call) for one in loads):
            return None
        own = {os.path.abspath(one.path) for one in self.files}
        for path in self.facts.importers(parsed.path):
            text = path.read_text("utf-8", "replace")
            if os.path.abspath(path) not in own and defined.name.value in text:
                return None
        places: dict[cst.CSTNode, Any] = {}
        values: list[_Said] = []
        for use in self._uses(parsed, defined):
            value: _Said = param.default, parsed
            if use.call is not None:
                if any(arg.star for arg in use.call.args):
                    return None
                for number, arg in enumerate(use.call.args):
                    key = number - use.before if arg.keyword is None else arg.keyword
                    if key == place or getattr(key, "value", "") == param.name.value:
                        value = arg.value, use.parsed
                        places[use.call] = _called_without(number, use.before)
            values.append(value)
        said = self._only(values, parsed, defined)
        if said is None:
            return None
        places |= {one: said.deep_clone() for one in loads}
        places[defined.params] = lambda now: now.with_changes(
            params=_without(now.params, place)
        )
        return places

    def _uses(self, parsed: ParsedModule, defined: cst.FunctionDef) -> Iterator[_Use]:
        name = defined.name.value
        for one, tree in zip(self.files, self.trees, strict=True):
            for node in one.nodes:
                said = node.attr if isinstance(node, cst.Attribute) else node
                if not isinstance(said, cst.Name) or said.value != name:
                    continue
                if said is node and node not in one.resolver.scopes.loads:
                    continue
                if self._told(node, one) != (os.path.abspath(parsed.path), name):
                    continue
                above = tree.parent(node)
                call = tree.parent(above) if isinstance(above, cst.Arg) else None
                if isinstance(above, cst.Call) and above.func is node:
                    yield _Use(one, above)
                elif (
                    isinstance(call, cst.Call)
                    and call.args[0] is above
                    and one.resolver.qualified(call.func) in _PARTIAL
                ):
                    yield _Use(one, call, 1)
                else:
                    yield _Use(one)

    # -- entries

    def _of_entry(
        self, parsed: ParsedModule, tree: Tree, func: cst.CSTNode
    ) -> dict[cst.CSTNode, Any] | None:
        key = _key(func)
        function = tree.function(func)
        if key is None or not isinstance(function, cst.FunctionDef):
            return None
        places: dict[cst.CSTNode, Any] = {}
        values: list[_Said] = []
        for one, other in zip(self.files, self.trees, strict=True):
            for node in one.nodes:
                if not isinstance(node, cst.SimpleString):
                    continue
                if node.evaluated_value != key:
                    continue
                element = other.parent(node)
                held = other.parent(element) if element is not None else None
                if isinstance(element, cst.DictElement) and element.key is node:
                    values.append((element.value, one))
                    assert isinstance(held, cst.Dict)
                    number = held.elements.index(element)
                    places[held] = _without_entry(number)
                else:
                    while held is not None and not isinstance(held, cst.Subscript):
                        held = other.parent(held)
                    if held is None or _key(held) != key:
                        return None
                    if other.function(node) is not function:
                        return None
                    places[held] = None
        said = self._only(values, parsed, function)
        if said is None:
            return None
        return {n: v or said.deep_clone() for n, v in places.items()}

    def _of_lambda(
        self, parsed: ParsedModule, node: cst.Lambda
    ) -> dict[cst.CSTNode, Any] | None:
        """``lambda features, labels, mode: model_fn(features, labels, mode)``"""
        call = node.body
        if not isinstance(call, cst.Call):
            return None
        names = [one.name.value for one in node.params.params]
        found = self.facts.definition(call.func, parsed)
        if found is None or not is_model_fn(found.node):
            return None
        assert isinstance(found.node, cst.FunctionDef)
        own = [one.name.value for one in found.node.params.params]
        given = {
            own[place] if arg.keyword is None else arg.keyword.value: arg
            for place, arg in enumerate(call.args[: len(own)])
        }
        plain = all(
            isinstance(arg.value, cst.Name) and arg.value.value == name and not arg.star
            for name, arg in given.items()
        )
        same = plain and names == own and len(call.args) == len(given) == len(own)
        return {node: call.func} if same else None

    # -- functions

    def _only(
        self, values: Sequence[_Said], parsed: ParsedModule, function: cst.FunctionDef
    ) -> cst.BaseExpression | None:
        """How a function says what alone is given; None if that makes no layers."""
        told = {self._told(value, origin) for value, origin in values}
        (only,) = told if len(told) == 1 else (None,)
        if only is None or not self._is_wanted(only):
            return None
        said = [value for value, origin in values if origin is parsed]
        if only[0] == os.path.abspath(parsed.path):
            said = [cst.Name(only[1])]
        root: cst.CSTNode | None = said[0] if said else None
        while isinstance(root, cst.Attribute):
            root = root.value
        scopes = parsed.resolver.scopes.opened
        hidden = not isinstance(root, cst.Name) or any(
            root.value in scopes[one].bindings
            for one in walk(function, cst.FunctionDef, cst.Lambda)
        )
        return None if hidden else said[0]

    def _told(self, node: cst.CSTNode | None, origin: ParsedModule) -> _Told | None:
        """The file and the name of a function, or what TensorFlow calls it."""
        symbol = origin.resolver.resolve(node) if node is not None else None
        if symbol is not None:
            return "", symbol
        found = self.facts.definition(node, origin)
        if not isinstance(found, Definition):
            return None
        bound = found.module.resolver.scopes.module_scope.bindings.get(found.name, ())
        own = [one.node for one in bound] == [found.node]
        defined = isinstance(found.node, cst.FunctionDef)
        path = os.path.abspath(found.module.path)
        return (path, found.name) if own and defined else None

    def _is_wanted(self, told: _Told) -> bool:
        """It makes layers or is an optimizer, which a Task has to see."""
        path, name = told
        if not path:
            return name.startswith(_LAYERS) or name.endswith("Optimizer")
        for one, tree in zip(self.files, self.trees, strict=True):
            if os.path.abspath(one.path) == path:
                bound = one.resolver.scopes.module_scope.bindings[name][0]
                return _makes_layers(tree, bound.node, set())
        return False


def _of_object(tree: Tree, node: cst.Assign) -> dict[cst.CSTNode, Any] | None:
    """Lets the model function make the network that a factory made for it alone."""
    name, made = node.targets[0].target, node.value
    if not isinstance(made, cst.Call) or not isinstance(name, cst.Name):
        return None
    network = tree.resolver.definition(made.func)
    factory = tree.function(node)
    block = tree.body(tree.statement(node))
    if not isinstance(network, cst.ClassDef) or factory is None or block is None:
        return None
    every = statements_of(block)
    if len(every) < 3:
        return None
    line, user, last = every[-3:]
    scopes = tree.resolver.scopes
    loads = [n for n in walk(factory, cst.Name) if n in scopes.loads]
    if (
        not isinstance(user, cst.FunctionDef)
        or not is_model_fn(user)
        or not isinstance(user.body, cst.IndentedBlock)
        or not isinstance(last, cst.SimpleStatementLine)
        or line is not tree.statement(node)
        or any(n.value == name.value and user not in tree.ancestors(n) for n in loads)
        or len(scopes.opened[factory].bindings[name.value]) != 1
        or {n.value for n in loads if made in tree.ancestors(n)}
        & {*scopes.opened[user].bindings}
        or not _makes_layers(tree, network, set())
    ):
        return None
    place = 1 if is_docstring(statements_of(user.body)[0]) else 0
    first = user.leading_lines if len(every) > 3 else line.leading_lines
    moved = line.with_changes(leading_lines=[])

    def made_inside(now: cst.FunctionDef) -> cst.FunctionDef:
        body = [*now.body.body]
        body.insert(place, moved)
        return now.with_changes(
            leading_lines=first, body=now.body.with_changes(body=body)
        )

    return {line: None, user: made_inside}


def _is_plain(tree: Tree, defined: cst.FunctionDef) -> bool:
    """A function of a file whose parameters have names and places."""
    params = defined.params
    return (
        tree.parent(defined) is tree.module
        and not defined.decorators
        and params.star_kwarg is None
        and not isinstance(params.star_arg, cst.Param)
        and not params.posonly_params
    )


def _loads(tree: Tree, defined: cst.FunctionDef, name: str) -> list[cst.Name]:
    """Where a parameter that keeps its value is read; nothing if it does not."""
    scope = tree.resolver.scopes.opened[defined]
    if len(scope.bindings.get(name, ())) != 1:
        return []
    return [
        one
        for one in walk(defined.body, cst.Name)
        if one.value == name
        and one in tree.resolver.scopes.loads
        and any(bound.scope is scope for bound in tree.resolver.bindings(one))
    ]


def _key(node: cst.CSTNode | None) -> str | None:
    """The string that a name is asked for: ``params['network']``."""
    if not isinstance(node, cst.Subscript) or not isinstance(node.value, cst.Name):
        return None
    index = node.slice[0].slice
    told = index.value if isinstance(index, cst.Index) else None
    key = told.evaluated_value if isinstance(told, cst.SimpleString) else None
    return key if isinstance(key, str) else None


def _makes_layers(tree: Tree, node: cst.CSTNode, seen: set[cst.CSTNode]) -> bool:
    """A function makes layers, or calls one of its file that does."""
    seen.add(node)
    for call in walk(node, cst.Call):
        if (tree.symbol(call.func) or "").startswith(_LAYERS):
            return True
        inner = tree.resolver.definition(call.func)
        if isinstance(inner, cst.FunctionDef) and inner not in seen:
            found = _makes_layers(tree, inner, seen)
            if found:
                return True
    return False


def _called_without(number: int, before: int) -> Callable[[cst.Call], cst.CSTNode]:
    """Makes of a call the one without an argument, or of a partial its function."""

    def made(now: cst.Call) -> cst.CSTNode:
        args = _without(now.args, number)
        alone = before and len(args) == 1
        return args[0].value if alone else now.with_changes(args=args)

    return made


def _without_entry(number: int) -> Callable[[cst.Dict], cst.Dict]:
    return lambda now: now.with_changes(elements=_without(now.elements, number))


def _without(nodes: Sequence[Any], number: int) -> list[Any]:
    """Arguments, parameters or entries without one of them."""
    found = [*nodes[:number], *nodes[number + 1 :]]
    if number == len(found) and found:
        found[-1] = found[-1].with_changes(comma=nodes[-1].comma)
    return found
