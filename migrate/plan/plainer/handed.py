"""Estimators that are handed about, said where they are trained.

A program may leave the making of its Estimator to a function, and give that the
model_fn or the RunConfig which it made itself. What a reader then sees is only a
parameter. Each step here takes one such detour out of the program; they are tried
where it is not understood as it stands.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ...project.parsing import parse
from ...symbols.scopes import BindingKind
from ..code.statements import own_statements
from ..code.substitute import VariableTransformer
from ..code.tree import Tree, walk
from ..estimator.places import Place, find_place
from ..inputs.passed import passed_values
from ..model_fn.factory import read_factory
from ..sites import Blocked
from .calls import with_call_written_out
from .handed_config import with_attribute_seen, with_config_seen
from .handed_parts import (
    call_out_of_blocks,
    on_lines_of_its_own,
    partial_as_factory,
    with_list_of_hooks,
)

__all__ = ["handed_plainly"]

_TOGETHER = "tf.estimator.train_and_evaluate"
_POSITIONS = {"model_fn": 0, "config": 2}
# A function of so many statements is written out at every call of it.
_SHORT = 12
_CALLS = 3


def handed_plainly(tree: Tree, call: cst.Call) -> cst.Module | None:
    """The module with one detour less on the way of an Estimator, or None."""
    module = on_lines_of_its_own(tree, call) or call_out_of_blocks(tree, call)
    if module is not None:
        return module
    module = _builder_named(tree, call)
    if module is not None:
        return module
    for name in _POSITIONS:
        given = _argument(call, name, _POSITIONS[name])
        module = None if given is None else _seen(tree, given, name)
        if module is not None:
            return module
    module = _returned_in_tuple(tree, call)
    if module is not None:
        return module
    try:
        place = find_place(tree, call)
    except Blocked:
        return None
    for node, what in _handed_to_calls(tree, place):
        if what == "hooks":
            module = with_list_of_hooks(tree, node)
            if module is not None:
                return module
        module = _seen(tree, node, what)
        if module is not None:
            return module
    return None


def _builder_named(tree: Tree, call: cst.Call) -> cst.Module | None:
    """A function that makes the Estimator and is given to another, by its name."""
    builder = tree.function(call)
    if not isinstance(builder, cst.FunctionDef):
        return None
    for load in tree.loads_of(builder):
        argument = tree.parent(load)
        taker = None if argument is None else tree.parent(argument)
        if not isinstance(argument, cst.Arg) or not isinstance(taker, cst.Call):
            continue
        function = tree.resolver.definition(taker.func)
        if not isinstance(function, cst.FunctionDef):
            continue
        for use in walk(function.body):
            if isinstance(use, cst.Name) and use in tree.resolver.scopes.loads:
                bindings = tree.resolver.bindings(use)
                if [(b.kind, b.scope.node) for b in bindings] != [
                    (BindingKind.PARAMETER, function)
                ]:
                    continue
                if load in (passed_values(tree, use) or ()):
                    return _with_the_one(tree, function, use)
    return None


def _returned_in_tuple(tree: Tree, call: cst.Call) -> cst.Module | None:
    """``return estimator, train_spec``, where ``a, b = build()`` takes them apart."""
    function = tree.function(call)
    if not isinstance(function, cst.FunctionDef):
        return None
    statement = own_returns(function)
    if len(statement) != 1 or not isinstance(statement[0].value, cst.Tuple):
        return None
    for element in statement[0].value.elements:
        if tree.value(element.value) is call:
            break
    else:
        return None
    return _first_call_written_out(tree, function)


def own_returns(function: cst.FunctionDef) -> list[cst.Return]:
    """The return statements of a function, without those of inner ones."""
    return [
        small
        for statement in own_statements(function)
        if isinstance(statement, cst.SimpleStatementLine)
        for small in statement.body
        if isinstance(small, cst.Return)
    ]


def _argument(call: cst.Call, name: str, place: int) -> cst.BaseExpression | None:
    for index, argument in enumerate(call.args):
        if argument.star:
            return None
        if argument.keyword is not None and argument.keyword.value == name:
            return argument.value
        if argument.keyword is None and index == place:
            return argument.value
    return None


def _handed_to_calls(
    tree: Tree, place: Place
) -> Iterator[tuple[cst.BaseExpression, str]]:
    """Specs and hooks that the uses of an Estimator are given."""
    for use in place.uses:
        parent = tree.parent(use)
        call = tree.parent(parent) if parent is not None else None
        if not isinstance(call, cst.Call):
            continue
        if isinstance(parent, cst.Attribute):
            method = parent.attr.value
            hooks = _argument(call, "hooks", 1 if method == "train" else 2)
            if hooks is not None and method in ("train", "evaluate"):
                yield hooks, "hooks"
        elif tree.symbol(call.func) == _TOGETHER:
            for index, name in ((1, "train_spec"), (2, "eval_spec")):
                spec = _argument(call, name, index)
                if spec is None:
                    continue
                yield spec, name
                made = tree.value(spec)
                hooks = None
                if isinstance(made, cst.Call):
                    hooks = _argument(made, "hooks", 2 if index == 1 else 3)
                if hooks is not None:
                    yield hooks, "hooks"


def _seen(tree: Tree, node: cst.BaseExpression, what: str) -> cst.Module | None:
    """The module with what an expression stands for nearer to it, or None."""
    if what == "config":
        module = with_config_seen(tree, node) or with_attribute_seen(tree, node)
        if module is not None:
            return module
    root = _root(tree, node)
    if what == "config" and isinstance(root, cst.Call):
        # RunConfig(train_distribute=strategy)
        for argument in root.args:
            name = argument.keyword.value if argument.keyword is not None else ""
            if name in ("train_distribute", "eval_distribute"):
                strategy = tree.value(argument.value)
                if isinstance(strategy, cst.Name):
                    module = _seen(tree, strategy, "strategy")
                    if module is not None:
                        return module
    if isinstance(root, cst.Name):
        bindings = tree.resolver.bindings(root)
        if any(binding.kind is BindingKind.PARAMETER for binding in bindings):
            return _given(tree, root)
        return None
    if what == "model_fn" and isinstance(root, (cst.Call, cst.Lambda)):
        module = partial_as_factory(tree, root)
        if module is not None:
            return module
    if isinstance(root, cst.Call):
        if what == "model_fn" and _is_factory(tree, root):
            return None
        return _written_out(tree, root)
    return None


def _is_factory(tree: Tree, call: cst.Call) -> bool:
    """The function behind a call only defines a model_fn: it is read as it is."""
    try:
        read_factory(tree, call)
    except Blocked:
        return False
    return True


def _root(tree: Tree, node: cst.BaseExpression) -> cst.BaseExpression:
    """``config`` for ``config.replace(...)``, through names and such calls."""
    for _ in range(12):
        value = tree.value(node)
        node = node if value is None else value
        if (
            isinstance(node, cst.Call)
            and isinstance(node.func, cst.Attribute)
            and node.func.attr.value == "replace"
            and tree.symbol(node.func) is None
        ):
            node = node.func.value
            continue
        break
    return node


# -- a function that is called ----------------------------------------------------


def _first_call_written_out(tree: Tree, function: cst.FunctionDef) -> cst.Module | None:
    """The function's statements in the place of the first call of it by its name."""
    for load in tree.loads_of(function):
        call = tree.parent(load)
        if isinstance(call, cst.Call) and call.func is load:
            return _written_out(tree, call)
    return None


def _written_out(tree: Tree, call: cst.Call) -> cst.Module | None:
    """The statements of the function behind a call, where it stands."""
    function = tree.resolver.definition(call.func)
    if not isinstance(function, cst.FunctionDef):
        return None
    if not isinstance(tree.parent(function), cst.Module):
        return None
    count = sum(1 for _ in own_statements(function))
    calls = len(tree.loads_of(function))
    if calls > 1 and (count > _SHORT or calls > _CALLS):
        return None
    return with_call_written_out(tree, call, function)


# -- a parameter ------------------------------------------------------------------


def _given(tree: Tree, node: cst.Name) -> cst.Module | None:
    """What the callers give for a parameter, in its place or next to it."""
    (first, *_) = tree.resolver.bindings(node)
    function = first.scope.node
    if not isinstance(function, cst.FunctionDef):
        return None
    if not isinstance(tree.parent(function), cst.Module):
        return None
    module = _with_the_one(tree, function, node)
    if module is not None:
        return module
    return _first_call_written_out(tree, function)


def _with_the_one(
    tree: Tree, function: cst.FunctionDef, node: cst.Name
) -> cst.Module | None:
    """A parameter that is always the same function of the module goes."""
    values = passed_values(tree, node)
    bindings = tree.resolver.bindings(node)
    if not values or len(bindings) != 1 or tree.loads_of(function) == []:
        return None
    definitions = {tree.resolver.definition(value) for value in values}
    (definition, *others) = definitions
    if others or not isinstance(definition, (cst.FunctionDef, cst.ClassDef)):
        return None
    if not isinstance(tree.parent(definition), cst.Module):
        return None
    name, new = node.value, definition.name.value
    scopes = tree.resolver.scopes
    inner = [
        scope
        for held, scope in scopes.opened.items()
        if held is function or function in tree.ancestors(held)
    ]
    module_bindings = scopes.module_scope.bindings.get(new, [])
    if len(module_bindings) != 1 or any(
        new in scope.bindings and (new != name or scope.node is not function)
        for scope in inner
    ):
        return None
    place = [p.name.value for p in function.params.params].index(name)
    calls = [tree.parent(load) for load in tree.loads_of(function)]
    changed = tree.module.visit(
        _Settled(
            function=function,
            place=place,
            name=name,
            uses=set(tree.uses(bindings[0])),
            new=new,
            calls={call for call in calls if isinstance(call, cst.Call)},
        )
    )
    assert isinstance(changed, cst.Module)
    return parse(changed.code)


class _Settled(VariableTransformer):
    """Takes a parameter out of a function and what was given for it out of calls."""

    def __init__(
        self,
        *,
        function: cst.FunctionDef,
        place: int,
        name: str,
        uses: set[cst.Name],
        new: str,
        calls: set[cst.Call],
    ) -> None:
        self.function = function
        self.place = place
        self.name = name
        self.uses = uses
        self.new = new
        self.calls = calls

    def leave_Name(
        self, original_node: cst.Name, updated_node: cst.Name
    ) -> cst.BaseExpression:
        if original_node in self.uses:
            return updated_node.with_changes(value=self.new)
        return updated_node

    def leave_FunctionDef(
        self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef
    ) -> cst.FunctionDef:
        if original_node is not self.function:
            return updated_node
        params = list(updated_node.params.params)
        del params[self.place]
        if params:
            params[-1] = params[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return updated_node.with_changes(
            params=updated_node.params.with_changes(params=params)
        )

    def leave_Call(
        self, original_node: cst.Call, updated_node: cst.Call
    ) -> cst.BaseExpression:
        if original_node not in self.calls:
            return updated_node
        kept = [
            argument
            for index, argument in enumerate(updated_node.args)
            if not (
                argument.keyword.value == self.name
                if argument.keyword is not None
                else index == self.place
            )
        ]
        if kept:
            kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return updated_node.with_changes(args=kept)
