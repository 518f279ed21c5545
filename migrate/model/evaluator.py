"""Evaluates the code of a model function with abstract values.

Each branch is followed, whatever its test; a loop is gone through until nothing new
is found. Functions of the project are entered, in whatever file they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from ..code.tree import Statement, Tree, statements_of, walk
from ..project.facts import ParsedModule
from .arguments import Argument, element_of
from .calls import Calls
from .definitions import given_to
from .held import before, fill, has_entries, held_object, is_unseen
from .terms import term
from .values import (
    Config,
    Const,
    Env,
    Function,
    Instance,
    Seq,
    Tensor,
    Time,
    Value,
    chosen,
    join,
    latest,
    of_mode,
    time_of,
    with_term,
)

__all__ = ["Evaluator", "evaluate"]

_GIVEN = {"features": Tensor(), "labels": Tensor(), "mode": Config(by_mode=True)}
# What an Estimator gives by its name, so that it cannot stand for anything else.
_NAMED = ("mode", "params", "config", "model_dir")
_ROUNDS = 3
# Ten times what the largest of many programs took.
_MOST_FOLLOWED = 100_000


class Evaluator(Calls):
    """One evaluation of a model function and of all that it calls."""

    @property
    def gave_up(self) -> bool:
        """There was more code than is followed: what came last was not."""
        return self.followed > _MOST_FOLLOWED

    def enter(self, function: Function, given: dict[str, Value]) -> tuple[Value, bool]:
        if self.gave_up:
            return Tensor(), False
        return super().enter(function, given)

    def call(
        self, callee: Value, node: cst.Call, arguments: list[Argument], env: Env
    ) -> Value:
        """What a call of a value gives; an object that a module holds may have it."""
        if is_unseen(callee) and self._follows(node.func, arguments, env):
            callee = self.held_method(node.func, env) or callee
        return super().call(callee, node, arguments, env)

    def _follows(
        self, func: cst.BaseExpression, arguments: list[Argument], env: Env
    ) -> bool:
        """What an object does with numbers and texts is of no matter to the model."""
        if not isinstance(func, cst.Attribute):
            return True
        if latest(one.value for one in arguments) is Time.GRAPH:
            return True
        holder = self._held(func.value, env)
        return holder is not None and has_entries(holder)

    def _held(self, node: cst.BaseExpression, env: Env) -> Instance | None:
        return held_object(
            self, node, env, lambda: Evaluator(self.facts, [*self.files.values()])
        )

    def held_method(self, node: cst.BaseExpression, env: Env) -> Value | None:
        """A method of an object that a module holds, or the object."""
        if not isinstance(node, cst.Attribute):
            return self._held(node, env)
        holder = self._held(node.value, env)
        return None if holder is None else self.method(holder, node.attr.value)

    def _subscript(self, node: cst.Subscript, env: Env) -> Value:
        """An entry; an object that a module holds may look it up."""
        found = super()._subscript(node, env)
        holder = self._held(node.value, env) if isinstance(found, Config) else None
        key = node.slice[0].slice
        if holder is None or not has_entries(holder) or not isinstance(key, cst.Index):
            return found
        method = self.method(holder, "__getitem__")
        if method is None:
            return found
        given = Argument(self.expression(key.value, env), key.value)
        return self.enter_call(method, node, [given], env)

    def suite(self, body: cst.BaseSuite, env: Env) -> None:
        """The statements of a block."""
        if isinstance(body, cst.IndentedBlock):
            self.block(statements_of(body), env)
        else:
            for small in body.body:
                assert isinstance(small, cst.BaseSmallStatement)
                self._small(small, env)

    def given(self, name: str) -> Value:
        """What a model function is given under a name."""
        return with_term(_GIVEN.get(name, Config()), term(f"`{name}`"))

    def block(self, statements: Sequence[Statement], env: Env) -> None:
        """Statements one after the other."""
        for statement in statements:
            self.statement(statement, env)

    def statement(self, node: Statement, env: Env) -> None:
        """One statement, with what is inside of it."""
        if isinstance(node, cst.SimpleStatementLine):
            for small in node.body:
                self._small(small, env)
        elif isinstance(node, cst.If):
            test = self.expression(node.test, env)
            self._branches(env, test, [node.body, node.orelse])
        elif isinstance(node, (cst.For, cst.While)):
            self._loop(node, env)
        elif isinstance(node, cst.With):
            for item in node.items:
                value = self.expression(item.item, env)
                self.within("with", value)
                if item.asname is not None:
                    self.assign(item.asname.name, value, env)
            self.suite(node.body, env)
            for _ in node.items:
                self.beyond()
        elif isinstance(node, cst.FunctionDef):
            env.names[node.name.value] = self.defined(node, env.module, env)
        elif isinstance(node, cst.ClassDef):
            env.names[node.name.value] = Instance(node, env.module, env=env)
        elif isinstance(node, (cst.Try, cst.TryStar)):
            self.suite(node.body, env)
            for handler in node.handlers:
                self.suite(handler.body, env)
            for part in (node.orelse, node.finalbody):
                if part is not None:
                    self.suite(part.body, env)

    def _branches(
        self, env: Env, test: Value, bodies: Sequence[cst.CSTNode | None]
    ) -> None:
        before = dict(env.names)
        after: list[dict[str, Value]] = []
        by_mode = time_of(test) is Time.MODE
        self.by_mode += by_mode
        for body in bodies:
            env.names.clear()
            env.names.update(before)
            self.within("if" if body is bodies[0] else "else", test)
            self._take(body, env)
            self.beyond()
            after.append(dict(env.names))
        self.by_mode -= by_mode
        env.names.clear()
        for names in after:
            for name, value in names.items():
                env.names[name] = self.merged(test, env.names.get(name), value)

    def _take(self, body: cst.CSTNode | None, env: Env) -> None:
        """One branch of a test."""
        if isinstance(body, cst.BaseSuite):
            self.suite(body, env)
        elif isinstance(body, cst.Else):
            self.suite(body.body, env)
        elif isinstance(body, cst.If):
            self.statement(body, env)

    def merged(self, test: Value, first: Value | None, second: Value) -> Value:
        """What a name is behind a test."""
        return chosen(test, first, second)

    def _loop(self, node: cst.For | cst.While, env: Env) -> None:
        for _ in range(_ROUNDS):
            before = dict(env.names)
            self._round(node, env)
            for name, known in before.items():
                env.names[name] = join(known, env.names[name])
            if env.names == before:
                break
        if node.orelse is not None:
            self.suite(node.orelse.body, env)

    def _round(self, node: cst.For | cst.While, env: Env) -> Value:
        """One round of a loop; what it goes through, or asks for."""
        if isinstance(node, cst.For):
            value = self.iterated(node, env)
        else:
            value = self.expression(node.test, env)
        self.within("for", value)
        self.suite(node.body, env)
        self.beyond()
        return value

    def iterated(self, node: cst.For, env: Env) -> Value:
        """What a loop goes through; its targets are elements of it."""
        value = self.expression(node.iter, env)
        self.assign(node.target, element_of(value), env)
        return value

    def _small(self, node: cst.BaseSmallStatement, env: Env) -> None:
        if isinstance(node, cst.Assign):
            value = self.expression(node.value, env)
            for target in node.targets:
                self.assign(target.target, value, env)
        elif isinstance(node, cst.AnnAssign):
            if node.value is not None:
                self.assign(node.target, self.expression(node.value, env), env)
        elif isinstance(node, cst.AugAssign):
            parts = [self.expression(one, env) for one in (node.target, node.value)]
            self.assign(node.target, self.augmented(node, *parts), env)
        elif isinstance(node, cst.Expr):
            self.expression(node.value, env)
        elif isinstance(node, cst.Return):
            value = Const(None)
            if node.value is not None:
                value = self.expression(node.value, env)
            self.returned(value)
        elif isinstance(node, cst.Assert):
            self.expression(node.test, env)
        elif isinstance(node, (cst.Import, cst.ImportFrom, cst.Raise, cst.Pass)):
            return

    def augmented(self, node: cst.AugAssign, first: Value, second: Value) -> Value:
        """What ``x += y`` makes of x."""
        value = join(first, second)
        return Config() if isinstance(value, Const) else value

    def returned(self, value: Value) -> None:
        """Notes what the function that is running returns."""
        if self._returned:
            self._returned[-1].append(value)
            self.parted = self.parted or self.by_mode > 0

    def assign(self, target: cst.BaseExpression, value: Value, env: Env) -> None:
        """Gives a value to a name, to several, or to a part of something."""
        self.notes.see(target, value)
        if isinstance(target, cst.Name):
            env.names[target.value] = value
        elif isinstance(target, (cst.Tuple, cst.List)):
            count = len(target.elements)
            exact = isinstance(value, Seq) and len(value.items) == count
            starred = any(isinstance(e, cst.StarredElement) for e in target.elements)
            for place, one in enumerate(target.elements):
                part = element_of(value)
                if exact and not starred:
                    assert isinstance(value, Seq)
                    part = value.items[place]
                self.assign(one.value, part, env)
        elif isinstance(target, (cst.Attribute, cst.Subscript)):
            self._fill(target, value, env)

    def _fill(
        self, target: cst.Attribute | cst.Subscript, value: Value, env: Env
    ) -> None:
        """``x[...] = value`` and ``x.name = value``: x holds it from here on."""
        holder = self.expression(target.value, env)
        if self.by_mode and time_of(value) is Time.SETUP:
            value = of_mode(Config() if isinstance(value, Const) else value)
        if isinstance(holder, Instance) and isinstance(target, cst.Attribute):
            name = target.attr.value
            holder.attributes[name] = join(holder.attributes.get(name), value)
            return
        self.put(target.value, value, env)


def evaluate(
    evaluator: Evaluator, parsed: ParsedModule, defined: cst.FunctionDef
) -> None:
    """Goes through a model function."""

    def other() -> Evaluator:
        return type(evaluator)(evaluator.facts, [*evaluator.files.values()])

    given: dict[str, Value] = {}
    owner: Value | None = None
    by_position = _by_position(defined)
    for parameter in (*defined.params.params, *defined.params.kwonly_params):
        name = parameter.name.value
        if name in by_position:
            given[name] = with_term(by_position[name], term(f"`{name}`"))
        else:
            given[name] = evaluator.given(name)
    holder = _class_around(parsed, defined)
    given |= _own_arguments(other(), parsed, defined, bound=holder is not None)
    if holder is not None and _is_of_class(defined):
        given[defined.params.params[0].name.value] = Instance(holder, parsed)
    elif holder is not None and "self" in given:
        owner = Instance(holder, parsed, made=True)
        given["self"] = owner
        fill(other(), owner)
    outer = _outer_names(other(), parsed, defined)
    evaluator.enter(Function(defined, parsed, outer), given)
    if evaluator.gave_up:
        evaluator.unknown("it calls too much code", defined, Env(parsed, {}))


def _own_arguments(
    evaluator: Evaluator, parsed: ParsedModule, defined: cst.FunctionDef, *, bound: bool
) -> dict[str, Value]:
    """Functions and classes that a model function has by default, or by a partial."""
    env = Env(parsed, {})
    found: dict[str, Value] = {
        name: value
        for name, value in evaluator.defaults(defined, env).items()
        if name not in (*_GIVEN, *_NAMED) and isinstance(value, (Function, Instance))
    }
    for name, value in given_to(
        evaluator, defined, defined.params, bound=bound
    ).items():
        if name not in (*_GIVEN, *_NAMED):
            found[name] = join(found.get(name), value)
    return found


def _by_position(defined: cst.FunctionDef) -> dict[str, Value]:
    """Features and targets where they have names of the program's own."""
    names = [one.name.value for one in defined.params.params]
    bound = names[:1] == ["self"] or _is_of_class(defined)
    names = names[1:] if bound else names
    own = [name for name in names[:2] if name not in _NAMED]
    return (
        {} if "features" in names and "labels" in names else {n: Tensor() for n in own}
    )


def _is_of_class(defined: cst.FunctionDef) -> bool:
    """A method that is given its class."""
    return bool(defined.params.params) and any(
        isinstance(one.decorator, cst.Name) and one.decorator.value == "classmethod"
        for one in defined.decorators
    )


def _outer_names(
    evaluator: Evaluator, parsed: ParsedModule, defined: cst.FunctionDef
) -> Env | None:
    """What a model function sees that is made by another function."""
    tree = Tree(parsed.module, parsed.resolver)
    around = tree.function(defined)
    if not isinstance(around, cst.FunctionDef):
        return None
    names: dict[str, Value] = {}
    holder = _class_around(parsed, around)
    known = given_to(evaluator, around, around.params, bound=holder is not None)
    for node in walk(around.params, cst.Param):
        name = node.name.value
        names[name] = known.get(name) or Config(term=term(f"`{name}`"))
    outer = _outer_names(evaluator, parsed, around)
    if holder is not None and around.params.params:
        owner = Instance(holder, parsed, made=True)
        names[around.params.params[0].name.value] = owner
        if around.name.value != "__init__":
            fill(evaluator, owner)
    env = Env(parsed, names, outer)
    if isinstance(around.body, cst.IndentedBlock):
        evaluator.block(statements_of(around.body), env)
    for name, value in names.items():
        names[name] = before(name, value)
    return env


def _class_around(
    parsed: ParsedModule, defined: cst.FunctionDef
) -> cst.ClassDef | None:
    tree = Tree(parsed.module, parsed.resolver)
    for one in tree.ancestors(defined):
        if isinstance(one, cst.FunctionDef):
            return None
        if isinstance(one, cst.ClassDef):
            return one
    return None
