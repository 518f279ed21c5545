"""Where an Estimator is held, and every place of its module that uses it."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from ...symbols.scopes import Binding, BindingKind, Scope
from ..code.arguments import is_none
from ..code.statements import own_statements
from ..code.tree import Body, Statement, Tree, walk
from ..sites import Blocked

__all__ = ["Place", "find_place"]

_RULE = "TFM110"
# So much of a foreign expression is told.
_SHOWN = 50


@dataclass
class Place:
    """An Estimator's own statement and the expressions that stand for it.

    ``variable`` names it where its life is visible in one scope; an Estimator that
    ``travels`` is returned, passed on, or kept on an object.
    """

    call: cst.Call
    statement: Statement
    body: Body
    variable: str
    travels: bool = False
    uses: list[cst.BaseExpression] = field(default_factory=list)
    # Where the program asks whether there is an Estimator yet.
    asked: list[cst.BaseExpression] = field(default_factory=list)


def find_place(tree: Tree, call: cst.Call) -> Place:
    """The place of the Estimator that a call makes."""
    line = tree.line(call)
    statement = tree.statement(call)
    body = tree.body(statement)
    if body is None:
        raise Blocked(_RULE, line, "the estimator is made in a way not understood")
    if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) != 1:
        raise Blocked(_RULE, line, "several statements on one line")
    if not isinstance(statement, cst.SimpleStatementLine):
        raise Blocked(_RULE, line, "the estimator is made inside a statement")
    place = Place(call, statement, body, "estimator")
    _Uses(tree, place).of(call)
    if not place.uses:
        raise Blocked(_RULE, line, "the estimator is never used here")
    for node in place.asked:
        if not place.travels:
            reason = "the program asks whether it has an estimator"
            raise Blocked(_RULE, tree.line(node), reason)
    _check_block(tree, place)
    return place


def _check_block(tree: Tree, place: Place) -> None:
    """A loop can stand in a branch or in a `for`, where all that needs it is there."""
    holder = tree.parent(place.body)
    if isinstance(place.body, cst.Module) or isinstance(holder, cst.FunctionDef):
        return
    line = tree.line(place.call)
    if isinstance(holder, cst.With):
        what = tree.code(holder.items[0].item)
        raise Blocked(_RULE, line, f"the estimator is made inside `with {what}`")
    if isinstance(holder, cst.ClassDef):
        raise Blocked(_RULE, line, "the estimator is made in the body of a class")
    for use in place.uses:
        if tree.statement_in(use, place.body) is None:
            reason = "the estimator is made in a branch, and used outside of it"
            raise Blocked(_RULE, tree.line(use), reason)


class _Uses:
    """Follows an Estimator from where it is made to where it is used."""

    def __init__(self, tree: Tree, place: Place) -> None:
        self.tree = tree
        self.place = place
        self.seen: set[cst.CSTNode] = set()

    def stop(self, node: cst.CSTNode, reason: str) -> Blocked:
        return Blocked(_RULE, self.tree.line(node), reason)

    def of(self, node: cst.BaseExpression) -> None:
        """Follow an expression whose value is the Estimator."""
        if node in self.seen:
            return
        self.seen.add(node)
        tree, place = self.tree, self.place
        parent = tree.parent(node)
        if isinstance(parent, cst.Assign) and parent.value is node:
            if len(parent.targets) != 1:
                raise self.stop(node, "the estimator has several names")
            self._target(parent.targets[0].target)
        elif isinstance(parent, cst.Attribute) and parent.value is node:
            if node is place.call:
                reason = "the estimator has no name: give it one on a line of its own"
                raise self.stop(node, reason)
            place.uses.append(node)
        elif isinstance(parent, cst.Return):
            self._returned(parent)
        elif isinstance(parent, cst.Arg):
            self._passed(node, parent)
        elif _asks(parent, node):
            place.asked.append(node)
        elif self._held(node):
            place.travels = True
        else:
            outer: cst.CSTNode = node
            for holder in tree.ancestors(node):
                if isinstance(holder, (cst.BaseStatement, cst.BaseSmallStatement)):
                    break
                if isinstance(holder, cst.BaseExpression):
                    outer = holder  # other nodes have no text of their own
            shown = " ".join(tree.code(outer).split())
            if len(shown) > _SHOWN:
                shown = f"{shown[:_SHOWN].rstrip()}..."
            reason = f"the estimator is used in a way not understood: `{shown}`"
            raise self.stop(node, reason)

    def _target(self, target: cst.BaseAssignTargetExpression) -> None:
        tree, place = self.tree, self.place
        if isinstance(target, cst.Name):
            binding = self._binding(target)
            scope = binding.scope
            if len(scope.bindings[target.value]) != 1:
                raise self.stop(*self._rebound(target, scope))
            place.variable = target.value
            for use in tree.uses(binding):
                self.of(use)
        elif isinstance(target, cst.Attribute):
            place.travels = True
            place.variable = target.attr.value
            self._attribute(target)
        else:
            raise self.stop(target, "the estimator is held in a way not understood")

    # -- in a list, a tuple or a dict --------------------------------------------

    def _held(self, node: cst.BaseExpression) -> bool:
        """Follow an Estimator that stands in a display of several."""
        tree = self.tree
        path: list[int | None] = []
        inner: cst.BaseExpression = node
        while True:
            element = tree.parent(inner)
            outer = None if element is None else tree.parent(element)
            if isinstance(element, cst.DictElement) and element.value is inner:
                path.insert(0, None)
            elif isinstance(element, cst.Element) and isinstance(
                outer, (cst.List, cst.Tuple)
            ):
                number = list(outer.elements).index(element)
                path.insert(0, number if isinstance(outer, cst.Tuple) else None)
            else:
                break
            assert isinstance(outer, (cst.Dict, cst.List, cst.Tuple))
            inner = outer
        if not path:
            return False
        if len(path) == 1:
            # The several of a tuple are one like the other.
            path = [None]
        return self._from(inner, path)

    def _from(self, held: cst.BaseExpression, path: list[int | None]) -> bool:
        """Follow what holds the Estimator; ``path`` leads into it."""
        tree = self.tree
        parent = tree.parent(held)
        if isinstance(parent, cst.For) and parent.iter is held:
            return self._looped(parent.target, path[1:])
        if isinstance(parent, cst.Subscript) and parent.value is held:
            if len(path) == 1:
                self.of(parent)
                return True
            return self._from(parent, path[1:])
        if isinstance(parent, cst.Attribute) and parent.value is held:
            call = tree.parent(parent)
            if not isinstance(call, cst.Call) or call.func is not parent or call.args:
                return False
            if parent.attr.value == "items":
                return self._from(call, [None, 1, *path[1:]])
            if parent.attr.value == "keys":
                return True
            return parent.attr.value == "values" and self._from(call, path)
        if isinstance(parent, cst.Arg) and not parent.star:
            call = tree.parent(parent)
            if not isinstance(call, cst.Call) or not isinstance(call.func, cst.Name):
                return False
            name = call.func.value
            if tree.resolver.bindings(call.func):
                return False
            if name == "len":
                return True
            if name in ("sorted", "list", "tuple", "reversed") and call.args:
                return call.args[0] is parent and self._from(call, path)
            if name == "enumerate":
                return self._from(call, [None, 1, *path[1:]])
            if name == "zip":
                return self._from(call, [None, call.args.index(parent), *path[1:]])
            return False
        if isinstance(parent, cst.Assign) and len(parent.targets) == 1:
            target = parent.targets[0].target
            if not isinstance(target, cst.Name):
                return False
            binding = self._binding(target)
            if len(binding.scope.bindings[target.value]) != 1:
                return False
            return all(self._from(use, path) for use in tree.uses(binding))
        return False

    def _looped(
        self, target: cst.BaseAssignTargetExpression, path: list[int | None]
    ) -> bool:
        """Follow the variable of a loop over several Estimators."""
        tree = self.tree
        for place in path:
            if not isinstance(target, cst.Tuple) or place is None:
                return False
            inner = target.elements[place].value
            if not isinstance(inner, (cst.Name, cst.Tuple)):
                return False
            target = inner
        if not isinstance(target, cst.Name):
            return False
        found: list[Binding] = []
        for scope in tree.resolver.scopes.opened.values():
            for binding in scope.bindings.get(target.value, ()):
                if isinstance(binding.node, cst.For) and target in walk(
                    binding.node.target
                ):
                    found = scope.bindings[target.value]
        if not found or not all(isinstance(b.node, cst.For) for b in found):
            return False
        loop = next((a for a in tree.ancestors(target) if isinstance(a, cst.For)), None)
        for use in tree.uses(found[0]):
            holders = [a for a in tree.ancestors(use) if isinstance(a, cst.For)]
            if loop in holders:
                self.of(use)
            elif not any(b.node in holders for b in found):
                # After the loop it is the last one's, which no loop says.
                return False
        return True

    def _rebound(self, target: cst.Name, scope: Scope) -> tuple[cst.CSTNode, str]:
        """Where else the name is bound, and to what."""
        tree, reason = self.tree, "the estimator is rebound"
        for binding in scope.bindings[target.value]:
            value = binding.value
            if value is None or value is self.place.call:
                continue
            if isinstance(value, cst.Call):
                reason += f" to what `{tree.code(value.func)}` returns"
            return binding.node, reason
        return target, reason

    def _binding(self, target: cst.Name) -> Binding:
        parent = self.tree.parent(target)
        assign = self.tree.parent(parent) if parent is not None else None
        for scope in self.tree.resolver.scopes.opened.values():
            for binding in scope.bindings.get(target.value, ()):
                value = binding.value
                if value is not None and self.tree.parent(value) is assign:
                    return binding
        raise self.stop(target, "the estimator is held in a way not understood")

    def _attribute(self, target: cst.Attribute) -> None:
        """``self.estimator``: every attribute of that name in the module is it."""
        name = target.attr.value
        for node in walk(self.tree.module):
            if not isinstance(node, cst.Attribute) or node.attr.value != name:
                continue
            if node is target or self.tree.symbol(node) is not None:
                continue
            parent = self.tree.parent(node)
            if isinstance(parent, cst.AssignTarget):
                assign = self.tree.parent(parent)
                value = assign.value if isinstance(assign, cst.Assign) else None
                if isinstance(value, cst.Name) and value.value == "None":
                    continue
                raise self.stop(node, "the estimator is rebound")
            self.of(node)

    def _returned(self, statement: cst.Return) -> None:
        tree = self.tree
        self.place.travels = True
        function = tree.function(statement)
        if not isinstance(function, cst.FunctionDef):
            raise self.stop(statement, "the estimator is returned from a lambda")
        returns = [
            s
            for s in own_statements(function)
            if isinstance(s, cst.SimpleStatementLine)
            and any(isinstance(small, cst.Return) for small in s.body)
        ]
        if len(returns) != 1:
            raise self.stop(
                statement, "the estimator's builder returns in several ways"
            )
        callers: list[cst.Name] | list[cst.Attribute] = tree.loads_of(function)
        if _class_of(tree, function) is not None:
            callers = self._method_loads(function)
        if not callers:
            raise self.stop(statement, "the estimator's builder is not called here")
        for load in callers:
            call = tree.parent(load)
            if not isinstance(call, cst.Call) or call.func is not load:
                raise self.stop(load, "the estimator's builder is passed on")
            self.of(call)

    def _method_loads(self, function: cst.FunctionDef) -> list[cst.Attribute]:
        """Every attribute of a method's name, which no other class may have."""
        tree, name = self.tree, function.name.value
        if function.decorators:
            raise self.stop(function, f"the builder `{name}` is decorated")
        others = [
            node
            for node in walk(tree.module)
            if isinstance(node, cst.FunctionDef)
            and node is not function
            and node.name.value == name
            and _class_of(tree, node) is not None
        ]
        if others:
            raise self.stop(others[0], f"two classes have a method `{name}`")
        return [
            node
            for node in walk(tree.module)
            if isinstance(node, cst.Attribute)
            and node.attr.value == name
            and tree.symbol(node) is None
        ]

    def _passed(self, node: cst.BaseExpression, argument: cst.Arg) -> None:
        tree, place = self.tree, self.place
        call = tree.parent(argument)
        assert isinstance(call, cst.Call)
        symbol = tree.symbol(call.func)
        if symbol is not None:
            # train_and_evaluate, or a hook that is given the Estimator.
            place.uses.append(node)
            return
        function: cst.CSTNode | None = tree.resolver.definition(call.func)
        bound = isinstance(function, cst.ClassDef)
        if isinstance(function, cst.ClassDef):
            function = _method(function, "__init__")
        elif function is None and isinstance(call.func, cst.Attribute):
            # self.run(estimator)
            function, bound = _own_method(tree, call.func), True
        if not isinstance(function, cst.FunctionDef) or argument.star:
            raise self.stop(node, "the estimator is passed on")
        parameters = [p.name for p in function.params.params][int(bound) :]
        name: cst.Name | None
        if argument.keyword is not None:
            wanted = argument.keyword.value
            name = next((p for p in parameters if p.value == wanted), None)
        else:
            index = call.args.index(argument)
            name = parameters[index] if index < len(parameters) else None
        scope = tree.resolver.scopes.opened.get(function)
        if name is None or scope is None:
            raise self.stop(node, "the estimator is passed on")
        bindings = scope.bindings.get(name.value, [])
        if len(bindings) != 1 or bindings[0].kind is not BindingKind.PARAMETER:
            raise self.stop(node, "the estimator is rebound")
        place.travels = True
        for use in tree.uses(bindings[0]):
            self.of(use)


def _asks(parent: cst.CSTNode | None, node: cst.BaseExpression) -> bool:
    """``estimator is None``, ``not estimator`` or ``if estimator:``."""
    if isinstance(parent, cst.Comparison) and len(parent.comparisons) == 1:
        (target,) = parent.comparisons
        if parent.left is not node or not is_none(target.comparator):
            return False
        return isinstance(target.operator, (cst.Is, cst.IsNot))
    if isinstance(parent, cst.UnaryOperation):
        return isinstance(parent.operator, cst.Not)
    return isinstance(parent, (cst.If, cst.IfExp)) and parent.test is node


def _class_of(tree: Tree, function: cst.CSTNode) -> cst.ClassDef | None:
    """The class that a function is a method of."""
    body = tree.parent(function)
    owner = None if body is None else tree.parent(body)
    return owner if isinstance(owner, cst.ClassDef) else None


def _method(owner: cst.ClassDef, name: str) -> cst.FunctionDef | None:
    """The plain method that a class defines itself under a name."""
    found = [
        node
        for node in owner.body.body
        if isinstance(node, cst.FunctionDef) and node.name.value == name
    ]
    return found[0] if len(found) == 1 and not found[0].decorators else None


def _own_method(tree: Tree, called: cst.Attribute) -> cst.FunctionDef | None:
    """The method behind ``self.name``."""
    if not isinstance(called.value, cst.Name) or called.value.value != "self":
        return None
    owner = next(
        (a for a in tree.ancestors(called) if isinstance(a, cst.ClassDef)), None
    )
    return None if owner is None else _method(owner, called.attr.value)
