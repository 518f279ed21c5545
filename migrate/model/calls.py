"""Calls: of functions of the project, wherever they are, and of all others."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Mapping

import libcst as cst

from ..names.nodes import everything
from ..project.facts import Definition, ParsedModule
from . import api, definitions, unseen
from .api import Call
from .api.hub import LAYER as HUB_LAYER
from .arguments import (
    Argument,
    Mismatch,
    bound,
    element_of,
    last_positional,
    with_partial,
)
from .expressions import Expressions
from .objects import of_tensorflow
from .terms import term
from .values import (
    Cell,
    Choice,
    Config,
    Const,
    Dict,
    Env,
    Function,
    Instance,
    Layer,
    Partial,
    Seq,
    Symbol,
    Tensor,
    Time,
    Unknown,
    Value,
    join,
    key_of,
    latest,
    loose,
    of_mode,
    options_of,
    time_of,
)

_DEPTH = 40
# Packages that make no variables of TensorFlow.
_HARMLESS = sys.stdlib_module_names | {
    "absl",
    "numpy",
    "pandas",
    "scipy",
    "six",
    "sklearn",
    "yaml",
}

# What calls functions of Python outside of the model's graph.
_ASIDE = (
    "tf.contrib.data.",
    "tf.data.",
    "tf.estimator.",
    "tf.make_template",
    "tf.numpy_function",
    "tf.py_func",
    "tf.train.",
)


class Calls(Expressions):
    """The part of an evaluation that follows calls."""

    @abstractmethod
    def suite(self, body: cst.BaseSuite, env: Env) -> None:
        """The statements of a block."""

    # -- definitions

    def decorated(
        self, node: cst.FunctionDef, module: ParsedModule, env: Env | None
    ) -> Value:
        key = node, env
        if key not in self._decorated:
            self._decorated[key] = definitions.decorated(self, node, module, env)
        return self._decorated[key]

    def _attribute(self, node: cst.Attribute, env: Env) -> Value:
        """What is read may be computed by a function as it is read."""
        return definitions.read(self, super()._attribute(node, env), node, env)

    def registered(self, found: Definition) -> Value | None:
        return definitions.registered(self, found)

    @abstractmethod
    def held_method(self, node: cst.BaseExpression, env: Env) -> Value | None:
        """A method of an object that a module holds, or the object."""

    def of_method(self, holder: Instance, found: Function) -> Value:
        node = found.node
        if isinstance(node, cst.FunctionDef) and definitions.is_abstract(node):
            derived = definitions.overriding(self, holder, node.name.value)
            if derived is not None:
                return derived
        if isinstance(node, cst.FunctionDef) and node.decorators:
            return definitions.member(self, holder, found) or Config()
        return found

    # -- functions

    def enter(self, function: Function, given: dict[str, Value]) -> tuple[Value, bool]:
        """What a function returns, and whether it makes variables."""
        node = function.node
        key = (node, *((name, key_of(value)) for name, value in given.items()))
        seen = (function.env, *key)
        if seen in self._known and not self.precise:
            return self._known[seen]
        if seen in self._running or len(self._running) > _DEPTH:
            self._again.add(node)
            if all(one[1] is not node for one in self._running):
                self.unknown("it calls too much code", node, Env(function.module, {}))
            return Tensor(), False
        self.notes.give(node, given)
        env = Env(function.module, dict(given), function.env)
        by_mode, parted = self.by_mode, self.parted
        self.by_mode, self.parted = 0, False
        self._running.append(seen)
        self._returned.append([])
        try:
            if isinstance(node, cst.Lambda):
                result = self.expression(node.body, env)
            else:
                self.suite(node.body, env)
                result = Const(None)
                for value in self._returned[-1]:
                    result = value if result == Const(None) else join(result, value)
                if self.parted and len(self._returned[-1]) > 1:
                    result = of_mode(result)
        finally:
            self._returned.pop()
            self._running.pop()
            self.by_mode, self.parted = by_mode, parted
        below = everything(node)
        made = (self.notes.made, self.notes.helpers)
        makes = not all(one.keys().isdisjoint(below) for one in made)
        if makes and node in self._again:
            self.unknown("a function with layers that calls itself", node, env)
        self._known[seen] = result, makes
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
        found = {
            one.name.value: self.expression(one.default, env)
            for one in every
            if one.default is not None
        }
        if node in self.notes.scoped:
            # What no default says either the scope around a call does.
            names = [one.name.value for one in every]
            found = dict.fromkeys(names, Symbol("tf.estimator.from_scope"))
        return found

    # -- calls

    def called(self, node: cst.Call, env: Env) -> Value:
        arguments = [
            Argument(
                self.expression(one.value, env),
                one.value,
                one.keyword.value if one.keyword is not None else None,
                one.star,
            )
            for one in node.args
        ]
        if definitions.is_named_dict(node, env.module):
            return Dict(tuple((one.keyword, one.value) for one in arguments))
        callee = self.expression(node.func, env)
        if isinstance(node.func, cst.Attribute):
            holder = self.expression(node.func.value, env)
            held = definitions.held(holder, node.func, arguments, env)
            if held is not None:
                return held
        return self.call(callee, node, arguments, env)

    def call(
        self, callee: Value, node: cst.Call, arguments: list[Argument], env: Env
    ) -> Value:
        """What a call of a value gives."""
        time = latest(one.value for one in arguments)
        if isinstance(callee, Choice):
            return self._one_of(callee, node, arguments, env)
        if isinstance(callee, Partial):
            return self._partial(callee, node, arguments, env)
        if isinstance(callee, Cell):
            self.notes.make(Call(callee.symbol, node, arguments, env, self), "called")
            return Tensor()
        if isinstance(callee, Function):
            return self.enter_call(callee, node, arguments, env)
        if isinstance(callee, Layer):
            for told in arguments if callee.symbol == HUB_LAYER else ():
                if told.keyword in ("signature", "as_dict"):
                    why = f"a module of tensorflow_hub by `{told.keyword}`"
                    return self.unknown(why, node, env)
            if callee.stays:
                own = self.notes.aside if callee.keras else self.notes.applied
                own.add(node)
            return Tensor()
        if isinstance(callee, Instance):
            return self._make(callee, node, arguments, env)
        if isinstance(callee, Symbol):
            return self._outer(callee, node, arguments, env)
        if isinstance(callee, Unknown):
            return callee
        if callee == Const(None):
            # It is in a branch for those that are given one.
            return Tensor()
        unseen.pass_over(self, node, callee, time, env)
        if isinstance(node.func, cst.Attribute):
            # A method: of a tensor, a list, a string.
            if node.func.attr.value in ("append", "extend", "insert", "update", "add"):
                given = tuple(one.value for one in arguments)
                one = given[0] if len(given) == 1 else Seq(given)
                appended = node.func.attr.value == "append"
                self.put(node.func.value, one, env, appended)
                return Const(None)
            return loose(max(time, time_of(callee)))
        if time_of(callee) is Time.GRAPH or unseen.is_of_step(arguments, env.module):
            return Tensor()
        why = unseen.may_make(self, node.func, callee, env)
        return self.unknown(why, node, env)

    def _one_of(
        self, callee: Choice, node: cst.Call, arguments: list[Argument], env: Env
    ) -> Value:
        """What a call of one of several functions gives."""
        found: Value | None = None
        made = False
        for one in callee.options:
            if one == Const(None):
                continue
            found = join(found, self.call(one, node, arguments, env))
            if isinstance(one, (Symbol, Partial)):
                made = made or node in self.notes.made
            elif node in self.notes.made and self.notes.made[node].kind != "called":
                why = "one of several functions makes layers"
                return self.unknown(why, node, env)
        if made:
            self.notes.by_function(node)
        return found or Const(None)

    def _partial(
        self, callee: Partial, node: cst.Call, arguments: list[Argument], env: Env
    ) -> Value:
        """What a function gives that has some of its arguments."""
        merged = with_partial(callee, arguments)
        found = self.call(callee.function, node, merged, env)
        if node in self.notes.made:
            self.notes.by_function(node)
        return found

    def _outer(
        self, callee: Symbol, node: cst.Call, arguments: list[Argument], env: Env
    ) -> Value:
        handler = api.find(callee.name)
        self.notes.symbols[node] = callee.name, env.module
        call = Call(callee.name, node, arguments, env, self)
        if handler is not None:
            calls = callee.name.startswith("tf.")
            calls = calls and not callee.name.startswith(_ASIDE)
            if calls:
                self._hand(call)
            result = handler(call)
            if calls and node in self.notes.helpers:
                self._handed(call)
            return result
        if callee.name.split(".")[0] in _HARMLESS:
            return loose(call.time)
        if call.time is not Time.GRAPH and callee.name.endswith((".get", ".items")):
            # Of a configuration that another package holds.
            return loose(call.time)
        why = unseen.may_make(self, node.func, callee, env)
        return self.unknown(why, node, env)

    def _hand(self, call: Call) -> None:
        """Functions that TensorFlow is given and calls: `tf.cond(x, one, other)`."""
        for one in call.arguments:
            for function in options_of(one.value):
                if not isinstance(function, Function):
                    continue
                parameters = function.node.params
                names = [*parameters.posonly_params, *parameters.params]
                count = len(names) - len(function.args) - (function.owner is not None)
                given = [
                    Argument(Tensor(term=term(f"argument {place}")), one.node)
                    for place in range(max(count, 0))
                ]
                if parameters.kwonly_params:
                    continue
                result = self.enter_call(function, call.node, given, call.env)
                self.given_back(call.node, result)

    def given_back(self, node: cst.CSTNode, value: Value) -> None:
        """Notes what a function gives that TensorFlow is given by a call."""

    def applied(
        self,
        call: Call,
        kind: str,
        given: Mapping[str, Value],
        inputs: Value | None,
        at_call: Mapping[str, Value],
    ) -> Value:
        """What a layer gives that is made and called at once."""
        return Tensor()

    def made(
        self, layer: Layer, call: Call, given: Mapping[str, Value], legacy: bool
    ) -> Layer:
        """A layer that is made by a call, of Keras or (``legacy``) of tf.layers."""
        return layer

    def _handed(self, call: Call) -> None:
        """Layers in a function that is given to another, which calls it."""
        made = self.notes.made.get(call.node)
        keeps = made is not None and made.kind == "function"
        if keeps or call.symbol.endswith(".arg_scope"):
            # Whatever that makes, its layer keeps; so do layers within a scope.
            self.notes.hand(call.node)
            return
        if call.symbol.endswith(".while_loop"):
            # Its rounds share what the first one makes, as if it were one layer.
            self.notes.hand(call.node)
            self.notes.make(call, "called")
            return
        shown = call.symbol
        call.unknown(f"layers in a function that `{shown}` calls")

    def enter_call(
        self,
        callee: Function,
        node: cst.BaseExpression,
        arguments: list[Argument],
        env: Env,
    ) -> Value:
        """What a call of a function of the project gives."""
        positional: list[Value] = list(callee.args)
        if callee.owner is not None:
            positional.insert(0, callee.owner)
        keywords = list(callee.keywords)
        taken = sum(one.star == "*" for one in arguments)
        # Parts of a value that are written as one, of which nobody tells how many.
        spread = False
        # Options whose keys nobody sees: the function keeps its place, and takes them.
        options = False
        for one in arguments:
            if one.star == "*" and isinstance(one.value, Seq):
                positional += one.value.items
            elif one.star == "*" and taken == 1 and one is last_positional(arguments):
                said = {name for name, _ in keywords}
                said |= {other.keyword for other in arguments if other.keyword}
                parameters = callee.node.params
                names = [*parameters.posonly_params, *parameters.params]
                room = [
                    parameter
                    for parameter in names[len(positional) :]
                    if parameter.default is None and parameter.name.value not in said
                ]
                positional += [element_of(one.value)] * len(room)
                spread = True
            elif one.star == "**" and isinstance(one.value, Dict):
                keywords += [(str(name), value) for name, value in one.value.items]
            elif one.star == "**" and time_of(one.value) is not Time.GRAPH:
                options = True
            elif one.star:
                return self.unknown("arguments that are not written out", node, env)
            elif one.keyword is None:
                positional.append(one.value)
            else:
                keywords = [k for k in keywords if k[0] != one.keyword]
                keywords.append((one.keyword, one.value))
        outer = callee.env or Env(callee.module, {})
        defaults = self.defaults(callee.node, outer)
        if options:
            parameters = callee.node.params
            said = {one.name.value for one in parameters.params[: len(positional)]}
            said |= {name for name, _ in keywords}
            keywords += definitions.unwritten(parameters, said, defaults)
            self.notes.staying.add(callee.node)
        try:
            given = bound(callee.node.params, positional, keywords, defaults=defaults)
        except Mismatch as problem:
            return self.unknown(f"a call that does not fit: {problem}", node, env)
        result, makes = self.enter(callee, given)
        self.notes.entered.setdefault(node, set()).add(callee.node)
        if makes and spread:
            return self.unknown("arguments that are not written out", node, env)
        if makes:
            self.notes.help(node, callee)
        return result

    def _bases(self, instance: Instance) -> list[str]:
        """What a class is made of, as far as it is TensorFlow's."""
        resolver = instance.module.resolver
        return [resolver.resolve(one.value) or "" for one in instance.node.bases]

    def in_lifted(self, env: Env) -> bool:
        """The code is that of a class that came out of lifting."""
        owner = env.find("self")
        return isinstance(owner, Instance) and self.is_scoped(owner)

    def is_scoped(self, instance: Instance) -> bool:
        """A class that came out of lifting."""
        return any(
            one.startswith("tf.estimator.Scoped") for one in self._bases(instance)
        )

    def _make(
        self, callee: Instance, node: cst.Call, arguments: list[Argument], env: Env
    ) -> Value:
        """An object of a class, or what an object gives when it is called."""
        symbols = self._bases(callee)
        known = of_tensorflow(Call("", node, arguments, env, self), callee, symbols)
        if known is not None:
            return known
        scoped = self.is_scoped(callee)
        if not scoped and any(symbol.startswith("tf.") for symbol in symbols):
            return self.unknown(f"an object of `{callee.node.name.value}`", node, env)
        if not callee.made and definitions.is_record(callee):
            return loose(latest(one.value for one in arguments))
        if callee.made:
            function = self.method(callee, "call" if scoped else "__call__")
            if function is None:
                why = unseen.may_make(self, node.func, callee, env)
                return self.unknown(why, node, env)
            return self.enter_call(function, node, arguments, env)
        # Each round of a loop makes one like the others.
        key = (node, env, *((one.keyword, key_of(one.value)) for one in arguments))
        if key in self._objects and not self.precise:
            return self._objects[key]
        fresh = self._objects.get(key) or Instance(
            callee.node, callee.module, made=True, env=callee.env
        )
        fresh.attributes.clear()
        self._objects[key] = fresh
        function = self.method(fresh, "__init__")
        if function is not None:
            result = self.enter_call(function, node, arguments, env)
            if isinstance(result, Unknown):
                return result
        return fresh
