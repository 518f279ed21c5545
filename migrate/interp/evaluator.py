"""Evaluates the code of a model function with abstract values.

Each branch is followed, whatever its test; a loop is gone through until nothing new
is found. Functions of the project are entered, in whatever file they are.
"""

from __future__ import annotations

import ast
import builtins
import os
from collections.abc import Sequence

import libcst as cst

from ..plan.code.tree import Statement, Tree, statements_of, walk
from ..project.facts import Definition, ParsedModule, ProjectFacts
from ..project.positions import code_of
from . import handlers
from .arguments import Argument, Mismatch, bound, element_of
from .handlers import Call
from .notes import Notes
from .values import (
    Choice,
    Config,
    Const,
    Dict,
    Each,
    Env,
    Function,
    Instance,
    Layer,
    Seq,
    Symbol,
    Tensor,
    Time,
    Unknown,
    Value,
    join,
    latest,
    time_of,
)

__all__ = ["Evaluator", "Event", "evaluated"]

_GIVEN = {"features": Tensor(), "labels": Tensor(), "mode": Config(by_mode=True)}
# (what is made, the scopes, loops and branches around it)
Event = tuple[tuple[str, tuple[tuple[str, str], ...]], tuple[str, ...]]

_ROUNDS = 3
_DEPTH = 40
# Packages that make no variables of TensorFlow.
_HARMLESS = frozenset(
    [
        "abc",
        "argparse",
        "collections",
        "copy",
        "csv",
        "datetime",
        "functools",
        "glob",
        "gzip",
        "hashlib",
        "io",
        "itertools",
        "json",
        "logging",
        "math",
        "multiprocessing",
        "numpy",
        "operator",
        "os",
        "pandas",
        "pickle",
        "platform",
        "pprint",
        "random",
        "re",
        "scipy",
        "shutil",
        "six",
        "sklearn",
        "string",
        "subprocess",
        "sys",
        "tempfile",
        "time",
        "typing",
        "uuid",
        "warnings",
        "yaml",
        "absl",
    ]
)
_BUILTINS = frozenset(dir(builtins))


class Evaluator:
    """One evaluation of a model function and of all that it calls."""

    def __init__(self, facts: ProjectFacts, files: Sequence[ParsedModule] = ()) -> None:
        self.facts = facts
        # Files by their paths, as the one who asks has parsed them.
        self.files = {os.path.abspath(one.path): one for one in files}
        self.notes = Notes()
        self._running: list[tuple[object, ...]] = []
        self._known: dict[tuple[object, ...], tuple[Value, bool, list[Event]]] = {}
        self._returned: list[list[Value]] = []
        self._objects: dict[tuple[object, ...], Instance] = {}
        # Variables that are made, each with the scopes, loops and branches around it.
        self.events: list[Event] = []
        self._around: list[str] = []

    # -- what is said of code

    def code(self, node: cst.CSTNode, env: Env) -> str:
        """The source of an expression."""
        return code_of(env.module.module, node).strip()

    def unknown(self, reason: str, node: cst.CSTNode, env: Env) -> Value:
        """A value that is not understood."""
        found = Unknown(reason, node, env.module)
        self.notes.unknown.setdefault(node, found)
        return found

    def event(self, kind: str, made: tuple[tuple[str, str], ...]) -> None:
        """Notes that variables are made here."""
        self.events.append(((kind, made), tuple(self._around)))

    # -- functions

    def enter(self, function: Function, given: dict[str, Value]) -> tuple[Value, bool]:
        """What a function returns, and whether it makes variables."""
        node = function.node
        key = (node, *((name, _key(value)) for name, value in given.items()))
        if key in self._known:
            value, makes, events = self._known[key]
            self.events += [(what, (*self._around, *way)) for what, way in events]
            return value, makes
        if key in self._running or len(self._running) > _DEPTH:
            return Tensor(), False
        self.notes.give(node, given)
        env = Env(function.module, dict(given), function.env)
        self._running.append(key)
        before = len(self.events)
        self._returned.append([])
        try:
            if isinstance(node, cst.Lambda):
                result = self.expression(node.body, env)
            else:
                self.suite(node.body, env)
                result = Const(None)
                for value in self._returned[-1]:
                    result = value if result == Const(None) else join(result, value)
        finally:
            self._returned.pop()
            self._running.pop()
        makes = any(
            one in self.notes.made or one in self.notes.helpers for one in walk(node)
        )
        outer = len(self._around)
        inside = [(what, way[outer:]) for what, way in self.events[before:]]
        self._known[key] = result, makes, inside
        return result, makes

    def defaults(
        self, node: cst.FunctionDef | cst.Lambda, env: Env
    ) -> dict[str, Value]:
        """The values of parameters that a call does not give."""
        every = (
            *node.params.posonly_params,
            *node.params.params,
            *node.params.kwonly_params,
        )
        return {
            one.name.value: self.expression(one.default, env)
            for one in every
            if one.default is not None
        }

    # -- statements

    def suite(self, body: cst.BaseSuite, env: Env) -> None:
        """The statements of a block."""
        if isinstance(body, cst.IndentedBlock):
            self.block(statements_of(body), env)
        else:
            for small in body.body:
                assert isinstance(small, cst.BaseSmallStatement)
                self._small(small, env)

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
            self.expression(node.test, env)
            self._branches(env, [node.body, node.orelse])
        elif isinstance(node, (cst.For, cst.While)):
            self._loop(node, env)
        elif isinstance(node, cst.With):
            for item in node.items:
                value = self.expression(item.item, env)
                self._around.append(self._scope(item.item, env))
                if item.asname is not None:
                    self.assign(item.asname.name, value, env)
            self.suite(node.body, env)
            del self._around[-len(node.items) :]
        elif isinstance(node, cst.FunctionDef):
            env.names[node.name.value] = Function(node, env.module, env)
            if node.decorators:
                env.names[node.name.value] = Config()
        elif isinstance(node, cst.ClassDef):
            env.names[node.name.value] = Config()
        elif isinstance(node, (cst.Try, cst.TryStar)):
            self.suite(node.body, env)
            for handler in node.handlers:
                self.suite(handler.body, env)
            for part in (node.orelse, node.finalbody):
                if part is not None:
                    self.suite(part.body, env)

    def _branches(self, env: Env, bodies: Sequence[cst.CSTNode | None]) -> None:
        before = dict(env.names)
        after: list[dict[str, Value]] = []
        for body in bodies:
            env.names.clear()
            env.names.update(before)
            self._around.append("if" if body is bodies[0] else "else")
            if isinstance(body, cst.BaseSuite):
                self.suite(body, env)
            elif isinstance(body, cst.Else):
                self.suite(body.body, env)
            elif isinstance(body, cst.If):
                self.statement(body, env)
            self._around.pop()
            after.append(dict(env.names))
        env.names.clear()
        for names in after:
            for name, value in names.items():
                env.names[name] = join(env.names.get(name), value)

    def _loop(self, node: cst.For | cst.While, env: Env) -> None:
        start = len(self.events)
        self._around.append("for")
        for _ in range(_ROUNDS):
            # What is made in each round is told once.
            del self.events[start:]
            before = dict(env.names)
            if isinstance(node, cst.For):
                value = self.expression(node.iter, env)
                self.assign(node.target, element_of(value), env)
            else:
                self.expression(node.test, env)
            self.suite(node.body, env)
            for name, known in before.items():
                env.names[name] = join(known, env.names[name])
            if env.names == before:
                break
        self._around.pop()
        if node.orelse is not None:
            self.suite(node.orelse.body, env)

    def _scope(self, node: cst.BaseExpression, env: Env) -> str:
        """A scope as far as it names variables."""
        value = self.notes.values.get(node.func) if isinstance(node, cst.Call) else None
        if value != Symbol("tf.variable_scope") or not isinstance(node, cst.Call):
            return "with"
        name = self.expression(node.args[0].value, env) if node.args else None
        return f"scope {name.value!r}" if isinstance(name, Const) else "scope ?"

    def _small(self, node: cst.BaseSmallStatement, env: Env) -> None:
        if isinstance(node, cst.Assign):
            value = self.expression(node.value, env)
            for target in node.targets:
                self.assign(target.target, value, env)
        elif isinstance(node, cst.AnnAssign):
            if node.value is not None:
                self.assign(node.target, self.expression(node.value, env), env)
        elif isinstance(node, cst.AugAssign):
            value = join(
                self.expression(node.target, env), self.expression(node.value, env)
            )
            if isinstance(value, Const):
                value = Config()
            self.assign(node.target, value, env)
        elif isinstance(node, cst.Expr):
            self.expression(node.value, env)
        elif isinstance(node, cst.Return):
            value = Const(None)
            if node.value is not None:
                value = self.expression(node.value, env)
            if self._returned:
                self._returned[-1].append(value)
        elif isinstance(node, cst.Assert):
            self.expression(node.test, env)
        elif isinstance(node, (cst.Import, cst.ImportFrom, cst.Raise, cst.Pass)):
            return

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
        if isinstance(holder, Instance) and isinstance(target, cst.Attribute):
            name = target.attr.value
            holder.attributes[name] = join(holder.attributes.get(name), value)
            return
        self._put(target.value, value, env)

    def _put(
        self, holder: cst.BaseExpression, value: Value, env: Env, appended: bool = False
    ) -> None:
        """A container that is filled is known as late as what is in it."""
        if isinstance(holder, cst.Attribute) and appended:
            object_ = self.expression(holder.value, env)
            if isinstance(object_, Instance):
                name = holder.attr.value
                held = object_.attributes.get(name, Config())
                object_.attributes[name] = join(held, Each(value))
                return
        root = holder
        while isinstance(root, (cst.Attribute, cst.Subscript)):
            root = root.value
        if not isinstance(root, cst.Name):
            return
        known = env.find(root.value)
        if known is None or isinstance(known, (Function, Layer, Instance, Symbol)):
            return
        new = _loose(latest([known, value]))
        if isinstance(known, Each) or known == Config():
            item = join(known.item, value) if isinstance(known, Each) else value
            new = Each(item) if appended else new
        owner: Env | None = env
        while owner is not None and root.value not in owner.names:
            owner = owner.outer
        if owner is not None:
            owner.names[root.value] = new

    # -- expressions

    def expression(self, node: cst.BaseExpression, env: Env) -> Value:
        """The value of an expression."""
        return self.notes.see(node, self._value(node, env))

    def _value(self, node: cst.BaseExpression, env: Env) -> Value:
        if isinstance(node, (cst.Integer, cst.Float, cst.SimpleString)):
            try:
                return Const(ast.literal_eval(node.value))
            except (ValueError, SyntaxError):
                return Config()
        if isinstance(node, cst.Name):
            return self._name(node, env)
        if isinstance(node, cst.Attribute):
            return self._attribute(node, env)
        if isinstance(node, cst.Call):
            return self._call(node, env)
        if isinstance(node, (cst.Tuple, cst.List)):
            items = [self.expression(one.value, env) for one in node.elements]
            if any(isinstance(one, cst.StarredElement) for one in node.elements):
                return _loose(latest(items))
            if isinstance(node, cst.List) and not items:
                return Config()
            return Seq(tuple(items))
        if isinstance(node, cst.Dict):
            return self._dict(node, env)
        if isinstance(node, cst.Subscript):
            return self._subscript(node, env)
        if isinstance(node, cst.Lambda):
            return Function(node, env.module, env)
        if isinstance(node, cst.IfExp):
            test = self.expression(node.test, env)
            value = join(
                self.expression(node.body, env), self.expression(node.orelse, env)
            )
            if isinstance(value, (Function, Choice, Layer)):
                return value
            return _loose(latest([test, value]))
        if isinstance(
            node, (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)
        ):
            return self._comprehension(node, env)
        if isinstance(node, cst.NamedExpr):
            value = self.expression(node.value, env)
            self.assign(node.target, value, env)
            return value
        if isinstance(node, cst.Comparison) and all(
            isinstance(c.operator, (cst.Is, cst.IsNot)) for c in node.comparisons
        ):
            # Whether a tensor is there is known before the graph is.
            sides = [node.left, *(one.comparator for one in node.comparisons)]
            time = latest(self.expression(one, env) for one in sides)
            return Config(time is not Time.SETUP)
        return _loose(latest([Const(None), *self._parts(node, env)]))

    def _parts(self, node: cst.CSTNode, env: Env) -> list[Value]:
        """The values of the nearest expressions inside of a node."""
        found: list[Value] = []
        for child in node.children:
            if isinstance(child, cst.BaseExpression):
                found.append(self.expression(child, env))
            else:
                found += self._parts(child, env)
        return found

    def _name(self, node: cst.Name, env: Env) -> Value:
        known = env.find(node.value)
        if known is not None:
            return known
        if node.value in ("None", "True", "False"):
            return Const({"None": None, "True": True, "False": False}[node.value])
        return self._outside(node, env)

    def _outside(self, node: cst.Name | cst.Attribute, env: Env) -> Value:
        """What a name of the module, or one that it imports, stands for."""
        resolver = env.module.resolver
        symbol = resolver.resolve(node)
        if symbol is not None and symbol.startswith("tf."):
            return Symbol(symbol)
        found = self._own(node, env) or self.facts.definition(node, env.module)
        if found is not None:
            return self._defined(found)
        dotted = resolver.qualified(node)
        if dotted is not None:
            return Symbol(dotted)
        if (
            isinstance(node, cst.Name)
            and node.value in _BUILTINS
            and not resolver.bindings(node)
        ):
            return Symbol(f"builtins.{node.value}")
        return Config()

    def _own(self, node: cst.Name | cst.Attribute, env: Env) -> Definition | None:
        """What a name stands for that is imported from one of the files given."""
        dotted = env.module.resolver.qualified(node)
        module, _, name = (dotted or "").rpartition(".")
        path = self.facts.locate(module, env.module.path) if module else None
        known = self.files.get(os.path.abspath(path)) if path is not None else None
        if known is None:
            return None
        bound = known.resolver.scopes.module_scope.bindings.get(name, [])
        if len(bound) != 1:
            return None
        made = bound[0].node
        if isinstance(made, (cst.FunctionDef, cst.ClassDef)):
            return Definition(known, name, made)
        return None

    def _as_parsed(self, found: Definition) -> Definition:
        """The same definition in the file as it was given."""
        known = self.files.get(os.path.abspath(found.module.path))
        if known is None or known is found.module:
            return found
        bound = known.resolver.scopes.module_scope.bindings.get(found.name, [])
        if len(bound) != 1 or type(bound[0].node) is not type(found.node):
            return found
        return Definition(known, found.name, bound[0].node)

    def _defined(self, found: Definition) -> Value:
        found = self._as_parsed(found)
        if isinstance(found.node, cst.FunctionDef):
            if found.node.decorators:
                return Symbol(f"decorated.{found.name}")
            return Function(found.node, found.module)
        if isinstance(found.node, cst.ClassDef):
            return Instance(found.node, found.module)
        if isinstance(found.node, (cst.Lambda, cst.Integer, cst.Float)):
            return self.expression(found.node, Env(found.module, {}))
        if isinstance(found.node, cst.SimpleString):
            return self.expression(found.node, Env(found.module, {}))
        return Config()

    def _attribute(self, node: cst.Attribute, env: Env) -> Value:
        root = node.value
        while isinstance(root, cst.Attribute):
            root = root.value
        if isinstance(root, cst.Name) and env.find(root.value) is None:
            outside = self._outside(node, env)
            if not isinstance(outside, Config):
                return outside
        holder = self.expression(node.value, env)
        if isinstance(holder, Instance):
            if node.attr.value in holder.attributes:
                return holder.attributes[node.attr.value]
            if node.attr.value == "get_variable" and self._is_scoped(holder):
                return Symbol("tf.get_variable")
            method = _method(holder.node, node.attr.value)
            if method is not None:
                return Function(method, holder.module, owner=holder)
        if isinstance(holder, Symbol):
            symbol = f"{holder.name}.{node.attr.value}"
            return (
                Symbol(symbol) if not holder.name.startswith("builtins") else Config()
            )
        if isinstance(holder, Choice):
            return Tensor()
        if isinstance(holder, (Seq, Dict, Const)):
            return _loose(time_of(holder))
        if isinstance(holder, (Function, Layer)):
            return Tensor()
        return holder if not isinstance(holder, Unknown) else Tensor()

    def _dict(self, node: cst.Dict, env: Env) -> Value:
        items: list[tuple[object, Value]] = []
        known = True
        for one in node.elements:
            if isinstance(one, cst.DictElement):
                key = self.expression(one.key, env)
                value = self.expression(one.value, env)
                known = known and isinstance(key, Const)
                items.append((key.value if isinstance(key, Const) else None, value))
            else:
                known = False
                items.append((None, self.expression(one.value, env)))
        if known and items:
            return Dict(tuple(items))
        return _loose(latest(value for _, value in items))

    def _subscript(self, node: cst.Subscript, env: Env) -> Value:
        holder = self.expression(node.value, env)
        parts = [v for one in node.slice for v in self._parts(one, env)]
        if len(parts) == 1 and isinstance(parts[0], Const):
            key = parts[0].value
            if isinstance(holder, Dict):
                for name, value in holder.items:
                    if name == key:
                        return value
            if (
                isinstance(holder, Seq)
                and isinstance(key, int)
                and isinstance(node.slice[0].slice, cst.Index)
                and -len(holder.items) <= key < len(holder.items)
            ):
                return holder.items[key]
        if isinstance(holder, (Dict, Seq)):
            values = (
                [v for _, v in holder.items]
                if isinstance(holder, Dict)
                else [*holder.items]
            )
            found = values[0] if values else Config()
            for value in values[1:]:
                found = join(found, value)
            if isinstance(found, (Function, Choice, Layer, Symbol, Instance)):
                return found
            return _loose(latest([found, *parts]))
        return _loose(latest([holder, *parts]))

    def _comprehension(self, node: cst.BaseComp, env: Env) -> Value:
        inner = Env(env.module, {}, env)
        found: list[Value] = []
        loop: cst.CompFor | None = node.for_in
        while loop is not None:
            value = self.expression(loop.iter, inner)
            found.append(Config(time_of(value) is Time.MODE))
            self.assign(loop.target, element_of(value), inner)
            for test in loop.ifs:
                found.append(self.expression(test.test, inner))
            loop = loop.inner_for_in
        if isinstance(node, cst.DictComp):
            found.append(self.expression(node.key, inner))
            found.append(self.expression(node.value, inner))
        else:
            assert isinstance(node, cst.BaseSimpleComp)
            found.append(self.expression(node.elt, inner))
        return _loose(latest(found))

    # -- calls

    def _call(self, node: cst.Call, env: Env) -> Value:
        arguments = [
            Argument(
                self.expression(one.value, env),
                one.value,
                one.keyword.value if one.keyword is not None else None,
                one.star,
            )
            for one in node.args
        ]
        callee = self.expression(node.func, env)
        return self.call(callee, node, arguments, env)

    def call(
        self, callee: Value, node: cst.Call, arguments: list[Argument], env: Env
    ) -> Value:
        """What a call of a value gives."""
        time = latest(one.value for one in arguments)
        if isinstance(callee, Choice):
            results = [self.call(one, node, arguments, env) for one in callee.options]
            found = results[0]
            for one in results[1:]:
                found = join(found, one)
            if node in self.notes.helpers or node in self.notes.made:
                return self.unknown("one of several functions makes layers", node, env)
            return found
        if isinstance(callee, Function):
            return self._enter(callee, node, arguments, env)
        if isinstance(callee, Layer):
            if not callee.keras:
                return self.unknown(
                    f"an object of `{callee.symbol}` cannot be lifted yet", node, env
                )
            self.event(callee.symbol.rpartition(".")[2], callee.given)
            return Tensor()
        if isinstance(callee, Instance):
            return self._make(callee, node, arguments, env)
        if isinstance(callee, Symbol):
            return self._outer(callee, node, arguments, env)
        if isinstance(callee, Unknown):
            return callee
        if isinstance(node.func, cst.Attribute):
            # A method: of a tensor, a list, a string.
            if node.func.attr.value in ("append", "extend", "insert", "update", "add"):
                one = arguments[0].value if len(arguments) == 1 else _loose(time)
                appended = node.func.attr.value == "append"
                self._put(node.func.value, one, env, appended)
                return Const(None)
            return _loose(max(time, time_of(callee)))
        if time_of(callee) is Time.GRAPH:
            return Tensor()
        shown = self.code(node.func, env)
        return self.unknown(f"`{shown}` may make variables", node, env)

    def _outer(
        self, callee: Symbol, node: cst.Call, arguments: list[Argument], env: Env
    ) -> Value:
        handler = handlers.find(callee.name)
        call = Call(callee.name, node, arguments, env, self)
        if handler is not None:
            return handler(call)
        if callee.name.split(".")[0] in _HARMLESS:
            return _loose(call.time)
        if call.time is not Time.GRAPH and callee.name.endswith((".get", ".items")):
            # Of a configuration that another package holds.
            return _loose(call.time)
        shown = self.code(node.func, env)
        return self.unknown(f"`{shown}` may make variables", node, env)

    def _enter(
        self, callee: Function, node: cst.Call, arguments: list[Argument], env: Env
    ) -> Value:
        positional: list[Value] = list(callee.args)
        if callee.owner is not None:
            positional.insert(0, callee.owner)
        keywords = list(callee.keywords)
        for one in arguments:
            if one.star == "*" and isinstance(one.value, Seq):
                positional += one.value.items
            elif one.star == "**" and isinstance(one.value, Dict):
                keywords += [(str(name), value) for name, value in one.value.items]
            elif one.star:
                return self.unknown("arguments that are not written out", node, env)
            elif one.keyword is None:
                positional.append(one.value)
            else:
                keywords = [k for k in keywords if k[0] != one.keyword]
                keywords.append((one.keyword, one.value))
        outer = callee.env or Env(callee.module, {})
        try:
            given = bound(
                callee.node.params,
                positional,
                keywords,
                defaults=self.defaults(callee.node, outer),
            )
        except Mismatch as problem:
            return self.unknown(f"a call that does not fit: {problem}", node, env)
        result, makes = self.enter(callee, given)
        if makes:
            self.notes.helpers[node] = callee
        return result

    def _bases(self, instance: Instance) -> list[str]:
        """What a class is made of, as far as it is TensorFlow's."""
        resolver = instance.module.resolver
        return [resolver.resolve(one.value) or "" for one in instance.node.bases]

    def _is_scoped(self, instance: Instance) -> bool:
        """A class that came out of lifting."""
        return any(
            one.startswith("tf.estimator.Scoped") for one in self._bases(instance)
        )

    def _make(
        self, callee: Instance, node: cst.Call, arguments: list[Argument], env: Env
    ) -> Value:
        """An object of a class, or what an object gives when it is called."""
        symbols = self._bases(callee)
        if any(symbol.startswith("tf.keras.") for symbol in symbols):
            made = Call(symbols[0], node, arguments, env, self)
            self.notes.keras.append(made)
            return Layer(symbols[0], keras=True)
        scoped = self._is_scoped(callee)
        if not scoped and any(symbol.startswith("tf.") for symbol in symbols):
            return self.unknown(f"an object of `{callee.node.name.value}`", node, env)
        if callee.made:
            method = _method(callee.node, "call" if scoped else "__call__")
            if method is None:
                return Tensor()
            function = Function(method, callee.module, owner=callee)
            return self._enter(function, node, arguments, env)
        # Each round of a loop makes one like the others.
        key = (node, env, *((one.keyword, _key(one.value)) for one in arguments))
        if key in self._objects:
            return self._objects[key]
        fresh = self._objects[key] = Instance(callee.node, callee.module, made=True)
        method = _method(callee.node, "__init__")
        if method is not None:
            function = Function(method, callee.module, owner=fresh)
            result = self._enter(function, node, arguments, env)
            if isinstance(result, Unknown):
                return result
        return fresh


def _method(node: cst.ClassDef, name: str) -> cst.FunctionDef | None:
    for one in (
        statements_of(node.body) if isinstance(node.body, cst.IndentedBlock) else ()
    ):
        if isinstance(one, cst.FunctionDef) and one.name.value == name:
            return one
    return None


def _loose(time: Time) -> Value:
    """A value of which nothing but its time is known."""
    return Tensor() if time is Time.GRAPH else Config(time is Time.MODE)


def _key(value: Value) -> object:
    try:
        hash(value)
    except TypeError:
        return id(value)
    return value


def evaluated(
    facts: ProjectFacts,
    files: Sequence[ParsedModule],
    parsed: ParsedModule,
    defined: cst.FunctionDef,
) -> Evaluator:
    """An evaluation of a model function."""
    evaluator = Evaluator(facts, files)
    given: dict[str, Value] = {}
    owner: Value | None = None
    for parameter in (*defined.params.params, *defined.params.kwonly_params):
        given[parameter.name.value] = _GIVEN.get(parameter.name.value, Config())
    holder = _class_around(parsed, defined)
    if holder is not None and "self" in given:
        owner = Instance(holder, parsed, made=True)
        given["self"] = owner
    evaluator.enter(Function(defined, parsed), given)
    return evaluator


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
