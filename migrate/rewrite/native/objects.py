"""Objects that a model function asks for its layers become part of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import libcst as cst

from ...code.edits import changed
from ...code.names import fresh
from ...code.tree import Tree, only_small, walk
from ...names.scopes import BindingKind
from ...project.facts import ParsedModule, ProjectFacts
from ..layers.model_functions import is_model_fn
from .idle import asks_for_mode
from .inlined import Inliner, knows_of_tasks

_MOST = 60
_PLAIN = (cst.Name, cst.SimpleString, cst.Integer, cst.Float)


def with_objects_dissolved(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file whose model functions do what an object of a plain class did for them.

    ``net = Net(params)`` and ``net.build(features)`` become the bodies of both; what
    the object held becomes names.
    """
    functions = [one for one in parsed.each(cst.FunctionDef) if is_model_fn(one)]
    for number in range(len(functions)):
        for call in _makers(parsed, number):
            found = OneObject(parsed, facts, number).dissolved(call)
            if found is not None:
                parsed = _without_classes(found, facts)
                break
    return parsed


def _function(parsed: ParsedModule, number: int) -> cst.FunctionDef:
    found = [one for one in parsed.each(cst.FunctionDef) if is_model_fn(one)][number]
    assert isinstance(found, cst.FunctionDef)
    return found


def _makers(parsed: ParsedModule, number: int) -> Iterator[cst.Call]:
    """Calls of a model function that make objects which make layers."""
    tree = Tree(parsed.module, parsed.resolver)
    defined = _function(parsed, number)
    for node in walk(defined.body, cst.Call):
        if tree.function(node) is defined:
            methods = [m for kind in line_of(tree, node.func) for m in methods_of(kind)]
            named = {one.name.value for one in methods}
            # A network is a model by itself, if each mode makes the same.
            network = (
                "__call__" in named
                and not is_told_the_mode(tree, node)
                and not any("EstimatorSpec(" in tree.code(one) for one in methods)
            )
            if (
                not network
                and "call" not in named
                and any(knows_of_tasks(tree, one) for one in methods)
            ):
                yield node


def is_told_the_mode(tree: Tree, made: cst.Call) -> bool:
    """Something is made of the mode, or of whether it trains."""
    return any(
        (isinstance(one, cst.Name) and one.value == "mode") or asks_for_mode(tree, one)
        for arg in made.args
        for one in walk(arg.value)
        if isinstance(one, cst.BaseExpression)
    )


def line_of(tree: Tree, func: cst.CSTNode) -> list[cst.ClassDef]:
    """A plain class of the file and those that it extends; nothing for others."""
    found: list[cst.ClassDef] = []
    node: cst.CSTNode | None = func
    while node is not None:
        if found and tree.code(node) == "object":
            break
        kind = tree.resolver.definition(node)
        if not isinstance(kind, cst.ClassDef) or kind.decorators or kind in found:
            return []
        if len(kind.bases) > 1 or kind.keywords:
            return []
        found.append(kind)
        node = kind.bases[0].value if kind.bases else None
    return found


def methods_of(kind: cst.ClassDef) -> list[cst.FunctionDef]:
    """The methods that a class itself defines."""
    return [one for one in kind.body.body if isinstance(one, cst.FunctionDef)]


class OneObject:
    """One object of one model function, on its way into it."""

    def __init__(
        self,
        parsed: ParsedModule,
        facts: ProjectFacts,
        number: int,
    ) -> None:
        self.facts = facts
        self.number = number
        self._take(parsed)

    def _take(self, parsed: ParsedModule) -> None:
        self.parsed = parsed
        self.tree = Tree(parsed.module, parsed.resolver)
        self.defined = _function(parsed, self.number)

    def dissolved(self, made: cst.Call) -> ParsedModule | None:
        """The file without the object; None if it is more than its methods."""
        self.kinds = [one.name.value for one in line_of(self.tree, made.func)]
        statement = self.tree.statement(made)
        small = only_small(statement)
        target = small.targets[0].target if isinstance(small, cst.Assign) else None
        taken = self._taken()
        places: dict[cst.CSTNode, Any] = {}
        lines = []
        if isinstance(target, cst.Name) and getattr(small, "value", None) is made:
            self.name = target.value
            if len(self._bindings().get(self.name, ())) != 1:
                return None
        elif small is not None and self._is_asked_at_once(made):
            self.name = fresh("_object", taken)
            called = isinstance(self.tree.parent(made), cst.Call)
            shown = f"{self.name}.__call__" if called else self.name
            places[made] = cst.parse_expression(shown)
            lines = [lambda now: now]
        else:
            return None
        for node in walk(self.defined.body, cst.Call):
            if self.tree.code(node.func) == self.name:
                places[node.func] = cst.Attribute(node.func, cst.Name("__call__"))
        init = cst.Attribute(cst.Name(self.name), cst.Name("__init__"))
        first = cst.SimpleStatementLine([cst.Expr(made.with_changes(func=init))])
        if lines:
            places[statement] = lambda now: [first, now]
        else:
            places[statement] = first.with_changes(
                leading_lines=getattr(statement, "leading_lines", ())
            )
        self._take(changed(self.parsed, self.facts, places))
        return self._without_attributes() if self._says_calls() else None

    def _is_asked_at_once(self, made: cst.Call) -> bool:
        """``Net(params).build(features)``, or ``Net(params)(features)``"""
        above = self.tree.parent(made)
        return isinstance(above, cst.Attribute) or getattr(above, "func", None) is made

    def _says_calls(self) -> bool:
        """Puts methods in the places of their calls; whether all of them went."""
        for _ in range(_MOST):
            asked = {one: cst.Call(one) for one in self._properties()}
            if asked:
                self._take(changed(self.parsed, self.facts, asked))
            call = next(self._calls(), None)
            if call is None:
                return True
            new = self._said(call)
            if new is None:
                return False
            places = {self.tree.statement(call): new}
            self._take(changed(self.parsed, self.facts, places))
        return False

    def _keeps(self, name: str) -> bool:
        """An attribute stays one, for others may read it."""
        return False

    def _bindings(self) -> dict[str, Any]:
        return dict(self.tree.resolver.scopes.opened[self.defined].bindings)

    def _taken(self) -> set[str]:
        loads, inside = self.tree.resolver.scopes.loads, {*walk(self.defined)}
        return {one.value for one in loads if one in inside} | {*self._bindings()}

    def _calls(self) -> Iterator[cst.Call]:
        """Calls of the object's methods, and of those that it inherits by `super`."""
        for node in walk(self.defined.body):
            func = node.func if isinstance(node, cst.Call) else None
            if isinstance(node, cst.Call) and isinstance(func, cst.Attribute):
                held = func.value
                named = isinstance(held, cst.Name) and held.value == self.name
                if (named or self._super(held)) and self._method(func) is not None:
                    yield node

    def _properties(self) -> Iterator[cst.Attribute]:
        """Reads of the object's properties, which are calls of methods."""
        for node in walk(self.defined.body, cst.Attribute):
            if self.tree.code(node.value) == self.name:
                _, method = self._method(node) or ("", None)
                above = self.tree.parent(node)
                if (
                    method is not None
                    and _decorators(method) == ["property"]
                    and getattr(above, "func", None) is not node
                ):
                    yield node

    def _super(self, held: cst.BaseExpression) -> str | None:
        """The class that ``super(Net, net)`` names."""
        found = re.fullmatch(rf"super\((\w+), {self.name}\)", self.tree.code(held))
        return found[1] if found is not None and found[1] in self.kinds else None

    def _method(self, func: cst.Attribute) -> tuple[str, cst.FunctionDef | None] | None:
        """What is called: its class, and the method, None where Python has one."""
        above = self._super(func.value)
        kinds = self.kinds[self.kinds.index(above) + 1 if above else 0 :]
        for kind in kinds:
            for node in self.parsed.module.body:
                if isinstance(node, cst.ClassDef) and node.name.value == kind:
                    for one in methods_of(node):
                        if one.name.value == func.attr.value:
                            return kind, one
        return ("", None) if func.attr.value == "__init__" else None

    def _said(self, call: cst.Call) -> Sequence[cst.BaseStatement] | None:
        """The statements of a method in the place of its call."""
        assert isinstance(call.func, cst.Attribute)
        kind, method = self._method(call.func) or ("", None)
        if method is None:
            return [] if not call.args else None
        if _decorators(method) not in ([], ["staticmethod"], ["property"]):
            return None
        owner = {"self": cst.parse_expression(self.name)}
        return Inliner(
            self.tree, self.defined, call, method, owner, f"super({kind}, {self.name})"
        ).statements()

    def _without_attributes(self) -> ParsedModule | None:
        """The file with names in the places of what the object held."""
        taken = self._taken() - {self.name}
        places: dict[cst.CSTNode, Any] = {}
        held: dict[str, list[cst.Attribute]] = {}
        for node in walk(self.defined.body, cst.Name):
            if node.value == self.name:
                above = self.tree.parent(node)
                if isinstance(above, (cst.Arg, cst.Attribute)) and node in (
                    getattr(above, "attr", None),
                    getattr(above, "keyword", None),
                ):
                    continue
                if not isinstance(above, cst.Attribute):
                    return None
                held.setdefault(above.attr.value, []).append(above)
        bindings = self._bindings()
        for name, nodes in held.items():
            if self._keeps(name):
                continue
            stores = [one for one in nodes if self._is_stored(one)]
            if not stores:
                failing = [self.tree.statement(one) for one in nodes]
                if not all(isinstance(only_small(one), cst.Raise) for one in failing):
                    return None
                why = f"'{self.kinds[0]}' object has no attribute '{name}'"
                missing = cst.parse_statement(f'raise AttributeError("{why}")')
                places |= dict.fromkeys(failing, missing)
                continue
            if any(self.tree.function(one) is not self.defined for one in stores):
                return None
            said = only_small(self.tree.statement(stores[0]))
            value = said.value if isinstance(said, cst.Assign) else None
            bound = bindings.get(getattr(value, "value", ""), ())
            # A name of a block may be another thing behind it.
            first = self.tree.body(self.tree.statement(stores[0])) is self.defined.body
            given = all(one.kind is BindingKind.PARAMETER for one in bound)
            lasting = len(bound) < 2 and (first or given)
            plain = isinstance(value, _PLAIN) or self.tree.symbol(value) is not None
            if len(stores) == 1 and value is not None and plain and lasting:
                places |= {one: value.deep_clone() for one in nodes}
                places[self.tree.statement(stores[0])] = None
                continue
            local = fresh(name, taken)
            for one in nodes if len(stores) == 1 else ():
                read = only_small(self.tree.statement(one))
                if isinstance(read, cst.Assign) and read.value is one:
                    target = self.tree.code(read.targets[0].target)
                    if len(read.targets) == len(bindings.get(target, ())) == 1:
                        # The function has a name for it.
                        local = target
                        places[self.tree.statement(one)] = None
                        break
            taken.add(local)
            places |= {one: cst.Name(local) for one in nodes}
        return changed(self.parsed, self.facts, places)

    def _is_stored(self, node: cst.Attribute) -> bool:
        inner: cst.CSTNode | None = node
        above = self.tree.parent(node)
        while isinstance(above, (cst.Element, cst.Tuple, cst.List)):
            above, inner = self.tree.parent(above), above
        return inner is getattr(above, "target", None) or isinstance(above, cst.AsName)


def _decorators(method: cst.FunctionDef) -> list[str]:
    return [cst.Module([]).code_for_node(one.decorator) for one in method.decorators]


def _without_classes(parsed: ParsedModule, facts: ProjectFacts) -> ParsedModule:
    """The file without plain classes that make layers, if nothing speaks of them."""
    others = [*facts.texts_of_importers(parsed.path)]
    for _ in range(_MOST):
        tree = Tree(parsed.module, parsed.resolver)
        for node in parsed.module.body:
            if not isinstance(node, cst.ClassDef) or not line_of(tree, node.name):
                continue
            name, inside = node.name.value, {*walk(node)}
            said = any(
                one.value == name and one not in inside for one in parsed.each(cst.Name)
            )
            if not said and not any(re.search(rf"\b{name}\b", one) for one in others):
                parsed = changed(parsed, facts, {node: None})
                break
        else:
            break
    return parsed
