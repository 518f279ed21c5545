"""Evaluates the code of a model function with abstract values.

Each branch is followed, whatever its test; a loop is gone through until nothing new
is found. Functions of the project are entered, in whatever file they are.
"""

from __future__ import annotations

import ast
import builtins
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

import libcst as cst

from ..code.tree import Statement, Tree, statements_of, walk
from ..names.nodes import children, everything
from ..names.scopes import BindingKind
from ..project.facts import Definition, ParsedModule, ProjectFacts
from . import api, definitions, unseen
from .api import Call
from .api.hub import LAYER as HUB_LAYER
from .arguments import (
    Argument,
    Mismatch,
    bound,
    element_of,
    last_positional,
    parameters_of,
    with_partial,
)
from .handed import HARMLESS, Handed
from .held import before, fill, held_object, is_unseen
from .notes import Notes
from .terms import term
from .values import (
    CALLED,
    Cell,
    Choice,
    Config,
    Const,
    Dict,
    Each,
    Env,
    Function,
    Instance,
    Layer,
    Partial,
    Property,
    Seq,
    Symbol,
    Tensor,
    Time,
    Unknown,
    Value,
    chosen,
    join,
    key_of,
    latest,
    loose,
    of_mode,
    one_of,
    options_of,
    time_of,
    with_term,
)

_BUILTINS = frozenset(dir(builtins))
# What a module calls for a value that its functions call.
_MADE_FIRST = ("collections.namedtuple", "typing.NamedTuple", "functools.partial")
TAKES_SCOPE = {"tf.contrib.framework.add_arg_scope", "tf.contrib.slim.add_arg_scope"}
# Methods of layers and cells that are their calls, by another name.
_CALLS_IT = ("__call__", "apply")
# Methods of lifted classes that make variables as functions of TensorFlow 1 do.
_SCOPED = {
    "get_variable": "tf.get_variable",
    "new_variable": "tf.Variable",
    "make_input_layer": "tf.feature_column.input_layer",
    "make_linear_model": "tf.feature_column.linear_model",
}


_DEPTH = 40
# Cells of the project's own are called by what they are given to.
_CELLS = ("tf.contrib.rnn.", "tf.nn.rnn_cell.")
_TRAINING = ("tf.train.", "tf.contrib.opt.", "tf.keras.optimizers.")
# What calls functions of Python outside of the model's graph.
_ASIDE = (
    "tf.contrib.data.", "tf.data.", "tf.estimator.", "tf.make_template",
    "tf.numpy_function", "tf.py_func", "tf.train.",
)  # fmt: skip


_GIVEN = {"features": Tensor(), "labels": Tensor(), "mode": Config(by_mode=True)}
# What an Estimator gives by its name, so that it cannot stand for anything else.
_NAMED = ("mode", "params", "config", "model_dir")
_ROUNDS = 3
# Ten times what the largest of many programs took.
_MOST_FOLLOWED = 100_000


@dataclass
class _Appended:
    """What a list of an object began with, and has been given since."""

    begun: Value
    # By the place that appended it, and the names of the call that did.
    sites: dict[tuple[cst.CSTNode, int], tuple[Env, Value]] = field(
        default_factory=dict
    )
    held: Value | None = None


class Evaluator:
    """One evaluation of a model function and of all that it calls."""

    # Each call of a function is gone through for itself.
    precise = False

    def __init__(
        self,
        facts: ProjectFacts,
        files: Sequence[ParsedModule] = (),
        notes: Notes | None = None,
    ) -> None:
        self.facts = facts
        # Files by their paths, as the one who asks has parsed them.
        self.files = {os.path.abspath(one.path): one for one in files}
        # Those of other evaluations so far, if they are given.
        self.notes = Notes() if notes is None else notes
        # How many expressions were gone through.
        self.followed = 0
        # Objects as such of classes that derive from theirs.
        self.derived: dict[tuple[Instance, cst.ClassDef], Instance] = {}
        self.held: dict[cst.CSTNode, Instance | None] = {}  # by modules
        self.handed = Handed(self)
        self._running: list[tuple[object, ...]] = []
        # Blocks of `with` that are open, those around running functions too.
        self._blocks: list[cst.With] = []
        # Functions that called themselves.
        self._again: set[cst.CSTNode] = set()
        self._known: dict[tuple[object, ...], tuple[Value, bool]] = {}
        self._returned: list[list[Value]] = []
        # Branches around that ask for the mode; a function has returned in one.
        self.by_mode = 0
        self.parted = False
        self._objects: dict[tuple[object, ...], Instance] = {}
        # What has been appended to lists of objects, by the place that did.
        self._appended: dict[tuple[Instance, str], _Appended] = {}
        self._decorated: dict[tuple[cst.CSTNode, Env | None], Value] = {}

    # -- what is said of code

    @property
    def gave_up(self) -> bool:
        """There was more code than is followed: what came last was not."""
        return self.followed > _MOST_FOLLOWED

    def code(self, node: cst.CSTNode, env: Env) -> str:
        """The source of an expression."""
        return env.module.module.code_for_node(node).strip()

    def unknown(self, reason: str, node: cst.CSTNode, env: Env) -> Value:
        """A value that is not understood."""
        found = Unknown(reason, node, env.module)
        self.notes.unknown.setdefault(node, found)
        return found

    def within(self, what: str, value: Value | None) -> None:
        """What follows stands in a scope, a branch or a loop: on what that depends."""
        return

    def beyond(self) -> None:
        """The end of it."""
        return

    def goes_round(self, value: Value) -> None:
        """What follows, up to the end of a comprehension, is done for each element."""
        return

    # -- expressions

    def expression(self, node: cst.BaseExpression, env: Env) -> Value:
        """The value of an expression."""
        self.followed += 1
        return self.notes.see(node, self._value(node, env))

    def _value(self, node: cst.BaseExpression, env: Env) -> Value:
        # The usual first, told by their classes: isinstance costs Python code.
        if type(node) is cst.Name:
            return self._name(node, env)
        if type(node) is cst.Attribute:
            return self._attribute(node, env)
        if type(node) is cst.Call:
            return self.called(node, env)
        if isinstance(node, (cst.Integer, cst.Float, cst.SimpleString)):
            try:
                return Const(ast.literal_eval(node.value))
            except (ValueError, SyntaxError):
                return Config()
        if isinstance(node, (cst.Tuple, cst.List)):
            items = [self.expression(one.value, env) for one in node.elements]
            if any(isinstance(one, cst.StarredElement) for one in node.elements):
                return loose(latest(items))
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
            sides = [self.expression(one, env) for one in (node.body, node.orelse)]
            return one_of(sides, [test])
        if isinstance(node, cst.BooleanOperation):
            # `function or default`: which of the two, only the program knows.
            sides = [self.expression(one, env) for one in (node.left, node.right)]
            return one_of(sides)
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
            parts = [node.left, *(one.comparator for one in node.comparisons)]
            time = latest(self.expression(one, env) for one in parts)
            return Config(time is not Time.SETUP)
        return loose(latest([Const(None), *self._parts(node, env)]))

    def _parts(self, node: cst.CSTNode, env: Env) -> list[Value]:
        """The values of the nearest expressions inside of a node."""
        found: list[Value] = []
        for child in children(node):
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
        return self.outside(node, env)

    def outside(self, node: cst.Name | cst.Attribute, env: Env) -> Value:
        """What a name of the module, or one that it imports, stands for."""
        resolver = env.module.resolver
        symbol = resolver.resolve(node)
        if symbol is not None and symbol.startswith("tf."):
            return Symbol(symbol)
        found = self._own(node, env) or self.facts.definition(node, env.module)
        found = found or definitions.constant(node, env)
        if found is not None:
            return self._defined(found)
        dotted = resolver.qualified(node)
        if dotted is not None:
            return Config() if self._is_setting(dotted, env) else Symbol(dotted)
        if (
            isinstance(node, cst.Name)
            and node.value in _BUILTINS
            and not resolver.bindings(node)
        ):
            return Symbol(f"builtins.{node.value}")
        return Config()

    def _is_setting(self, dotted: str, env: Env) -> bool:
        """A name of one of the files given, which holds what no call has made."""
        module, _, name = dotted.rpartition(".")
        path = self.facts.locate(module, env.module.path) if module else None
        known = self.files.get(os.path.abspath(path)) if path is not None else None
        if known is None:
            return False
        bound = known.resolver.scopes.module_scope.bindings.get(name, [])
        return bool(bound) and all(
            one.kind is BindingKind.ASSIGN
            and not isinstance(one.value, (cst.Call, type(None)))
            for one in bound
        )

    def _own(self, node: cst.Name | cst.Attribute, env: Env) -> Definition | None:
        """What a name stands for that is imported from one of the files given."""
        resolver = env.module.resolver
        dotted = resolver.qualified(node)
        named = [dotted] if dotted else []
        if not named and isinstance(node, cst.Name) and node.value[0] != "_":
            # A class that lifting has made, in a module of which all is imported.
            homes = resolver.star_modules(resolver.scopes.module_scope)
            named = [f"{home}.{node.value}" for home in homes]
        for one in named:
            module, _, name = one.rpartition(".")
            path = self.facts.locate(module, env.module.path) if module else None
            known = self.files.get(os.path.abspath(path)) if path is not None else None
            scope = known.resolver.scopes.module_scope if known is not None else None
            bound = scope.bindings.get(name, []) if scope is not None else []
            made = bound[0].node if len(bound) == 1 else None
            if known is not None and isinstance(made, (cst.FunctionDef, cst.ClassDef)):
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
        node, module = found.node, found.module
        if isinstance(node, cst.FunctionDef):
            return self.defined(node, module, None)
        if isinstance(node, cst.ClassDef):
            return Instance(node, module)
        env = Env(module, {})
        if isinstance(node, (cst.Lambda, cst.Integer, cst.Float, cst.SimpleString)):
            return self.expression(node, env)
        held = isinstance(node, (cst.Dict, cst.Tuple))
        held = held or definitions.is_named_dict(node, module)
        if held and not definitions.is_filled(found):
            return self.expression(node, env)
        if isinstance(node, cst.Name) and definitions.is_outer(node, module):
            # Another name for it: `xrange = range`.
            return self.outside(node, env)
        if isinstance(node, cst.Call):
            made = module.resolver.qualified(node.func)
            if made in _MADE_FIRST:
                return self.expression(node, env)
        return Config()

    def defined(
        self, node: cst.FunctionDef, module: ParsedModule, env: Env | None
    ) -> Value:
        """What a definition gives, with its decorators."""
        known = {
            module.resolver.resolve(one.decorator) or "" for one in node.decorators
        }
        if not known <= TAKES_SCOPE:
            return self.decorated(node, module, env)
        if known:
            # What is not given may come from an arg_scope, of this function by name.
            self.notes.staying.add(node)
            self.notes.scoped.add(node)
        return Function(node, module, env)

    def _attribute(self, node: cst.Attribute, env: Env) -> Value:
        """An attribute, where it is computed as it is read what that gives."""
        known = self._read(node, env)
        every = options_of(known)
        if not any(isinstance(one, Property) for one in every):
            return known
        found: Value | None = None
        for one in every:
            if isinstance(one, Property):
                one = self.enter_call(one.function, node, [], env)
            found = join(found, one)
        return found or known

    def _read(self, node: cst.Attribute, env: Env) -> Value:
        root = node.value
        while isinstance(root, cst.Attribute):
            root = root.value
        if isinstance(root, cst.Name) and env.find(root.value) is None:
            outside = self.outside(node, env)
            # A class of another file of the project has it.
            of_class = (
                isinstance(outside, Symbol)
                and isinstance(node.value, cst.Name)
                and isinstance(self.outside(node.value, env), Instance)
            )
            if not isinstance(outside, Config) and not of_class:
                return outside
        holder = self.expression(node.value, env)
        if isinstance(holder, Instance):
            if node.attr.value in holder.attributes:
                return holder.attributes[node.attr.value]
            if node.attr.value in _SCOPED and self.is_scoped(holder):
                return Symbol(_SCOPED[node.attr.value])
            return self._member(holder, node.attr.value)
        if isinstance(holder, Symbol):
            symbol = f"{holder.name}.{node.attr.value}"
            if holder.name.startswith("builtins") or self._is_setting(symbol, env):
                return Config()
            return Symbol(symbol)
        if isinstance(holder, Choice):
            if all(isinstance(one, Instance) for one in holder.options):
                return self._of_several(holder, node.attr.value)
            return Tensor()
        if isinstance(holder, (Seq, Dict, Const)):
            return loose(time_of(holder))
        if isinstance(holder, (Layer, Cell)) and node.attr.value in _CALLS_IT:
            return holder
        if isinstance(holder, Function) and node.attr.value == "__name__":
            return definitions.name_of(holder)
        if isinstance(holder, (Function, Layer, Cell, Partial)):
            return Tensor()
        return holder if not isinstance(holder, Unknown) else Tensor()

    def method(self, instance: Instance, name: str) -> Function | None:
        """A method of an object, or of what its class is made of."""
        found = definitions.method_of(instance.node, name)
        if found is not None:
            return Function(found, instance.module, instance.env, owner=instance)
        for base in self.bases(instance):
            inherited = self.method(base, name)
            if inherited is not None:
                return inherited
        return None

    def bases(self, instance: Instance) -> list[Instance]:
        """An object as one of the project's classes that its own is made of."""
        env = Env(instance.module, {}, instance.env)
        found: list[Instance] = []
        for one in instance.node.bases:
            if not isinstance(one.value, (cst.Name, cst.Attribute)):
                continue
            base: Value | None = None
            if isinstance(one.value, cst.Name):
                base = env.find(one.value.value)
            base = base or self.outside(one.value, env)
            if isinstance(base, Instance) and base.node is not instance.node:
                made = instance.made
                found.append(
                    Instance(base.node, base.module, instance.attributes, made)
                )
        return found

    def _of_several(self, holder: Choice, name: str) -> Value:
        found: Value | None = None
        for one in holder.options:
            assert isinstance(one, Instance)
            value = one.attributes.get(name) or self._member(one, name)
            found = join(found, value)
        assert found is not None
        return found

    def _member(self, holder: Instance, name: str) -> Value:
        found = self.method(holder, name)
        if found is not None:
            return self.of_method(holder, found)
        body = holder.node.body
        for one in statements_of(body) if isinstance(body, cst.IndentedBlock) else ():
            for small in one.body if isinstance(one, cst.SimpleStatementLine) else ():
                if isinstance(small, cst.Assign) and any(
                    isinstance(t.target, cst.Name) and t.target.value == name
                    for t in small.targets
                ):
                    return self.expression(small.value, Env(holder.module, {}))
        return Config()

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
        return loose(latest(value for _, value in items))

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
        if isinstance(holder, Each) and isinstance(holder.item, Instance):
            # One of the objects, which are alike.
            index = isinstance(node.slice[0].slice, cst.Index)
            return holder.item if index else holder
        if isinstance(holder, (Dict, Seq)):
            values = [one[1] if isinstance(one, tuple) else one for one in holder.items]
            return one_of(values or [Config()], parts)
        return loose(latest([holder, *parts]))

    def _comprehension(self, node: cst.BaseComp, env: Env) -> Value:
        inner = Env(env.module, {}, env)
        found: list[Value] = []
        loop: cst.CompFor | None = node.for_in
        while loop is not None:
            value = self.expression(loop.iter, inner)
            self.goes_round(value)
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
            element = self.expression(node.elt, inner)
            if isinstance(element, CALLED):
                # Each is called like the others.
                return Each(element)
            found.append(element)
        return loose(latest(found))

    def put(
        self, holder: cst.BaseExpression, value: Value, env: Env, appended: bool = False
    ) -> None:
        """A container that is filled is known as late as what is in it."""
        if isinstance(holder, cst.Attribute) and appended:
            object_ = self.expression(holder.value, env)
            if isinstance(object_, Instance):
                name = holder.attr.value
                if name not in object_.attributes and self.is_scoped(object_):
                    # The classes of ours make their lists themselves.
                    return
                held = object_.attributes.get(name, Config())
                told = self._appended.get((object_, name))
                if told is None or told.held is not held:
                    told = self._appended[object_, name] = _Appended(held)
                # A further round of a loop tells better what it makes.
                told.sites[holder, id(env)] = env, Each(value)
                parts = (one for _, one in told.sites.values())
                told.held = object_.attributes[name] = reduce(join, parts, told.begun)
                return
        root = holder
        while isinstance(root, (cst.Attribute, cst.Subscript)):
            root = root.value
        if not isinstance(root, cst.Name):
            return
        known = env.find(root.value)
        if known is None or isinstance(known, (Function, Layer, Instance, Symbol)):
            return
        new = loose(latest([known, value]))
        if isinstance(known, Each) or known == Config():
            item = join(known.item, value) if isinstance(known, Each) else value
            new = Each(item) if appended else new
        env.holder(root.value).names[root.value] = new  # type: ignore[union-attr]

    # -- definitions

    def decorated(
        self, node: cst.FunctionDef, module: ParsedModule, env: Env | None
    ) -> Value:
        key = node, env
        if key not in self._decorated:
            self._decorated[key] = definitions.decorated(self, node, module, env)
        return self._decorated[key]

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
        if self.gave_up:
            return Tensor(), False
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
        every = parameters_of(node.params)
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
        """What a call of a value gives; an object that a module holds may have it."""
        if self._blocks or node in self.notes.around:
            self.notes.around.setdefault(node, set()).add(tuple(self._blocks))
        else:
            self.notes.bare.add(node)
        time = latest(one.value for one in arguments)
        # What an object does with numbers and texts is of no matter to the model.
        follows = time is Time.GRAPH or not isinstance(node.func, cst.Attribute)
        if is_unseen(callee) and follows:
            callee = self.held_method(node.func, env) or callee
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
        result, why = self.handed.result(arguments)
        if result is not None:
            return Tensor() if time is Time.GRAPH else result
        why = unseen.may_make(self, node.func, callee, env, why)
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
        if callee.name.split(".")[0] in HARMLESS:
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
        known = self._of_tensorflow(
            Call("", node, arguments, env, self), callee, symbols
        )
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

    def _of_tensorflow(
        self, call: Call, callee: Instance, symbols: Sequence[str]
    ) -> Value | None:
        """What a call of a class gives that is made of ``symbols``, if these tell."""
        call = replace(call, symbol=symbols[0]) if symbols else call
        if any(symbol.startswith("tf.keras.") for symbol in symbols):
            self.notes.keras.append(call)
            return Layer(call.symbol, keras=True, stays=True)
        if any(symbol.startswith(_CELLS) for symbol in symbols):
            return Cell(call.symbol)
        if any(symbol.startswith("tf.layers.") for symbol in symbols):
            # Its variables are named by the scope that calls it.
            if callee.made:
                return call.unknown(f"an object of `{callee.node.name.value}`")
            return Cell(call.symbol)
        if any(symbol.startswith("tf.contrib.seq2seq.") for symbol in symbols):
            # An attention: it makes variables for the memory that it is given.
            self.notes.make(call, "called")
            return Cell(call.symbol)
        if any(symbol.startswith(_TRAINING) for symbol in symbols):
            # Optimizers, hooks: what they make is no part of the model.
            return Tensor()
        return None

    # -- objects that modules hold

    def apart(self) -> Evaluator:
        """What evaluates code that is no part of the model."""
        return Evaluator(self.facts, [*self.files.values()])

    def _held(self, node: cst.BaseExpression, env: Env) -> Instance | None:
        return held_object(self, node, env)

    def held_method(self, node: cst.BaseExpression, env: Env) -> Value | None:
        """A method of an object that a module holds, or the object."""
        if not isinstance(node, cst.Attribute):
            return self._held(node, env)
        holder = self._held(node.value, env)
        return None if holder is None else self.method(holder, node.attr.value)

    # -- statements

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
            self._blocks.append(node)
            self.suite(node.body, env)
            self._blocks.pop()
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
        first, second = after
        for name in {**first, **second}:
            env.names[name] = self.merged(test, first.get(name), second.get(name))

    def _take(self, body: cst.CSTNode | None, env: Env) -> None:
        """One branch of a test."""
        if isinstance(body, cst.BaseSuite):
            self.suite(body, env)
        elif isinstance(body, cst.Else):
            self.suite(body.body, env)
        elif isinstance(body, cst.If):
            self.statement(body, env)

    def merged(self, test: Value, first: Value | None, second: Value | None) -> Value:
        """What a name is behind a test; None where a branch does not bind it."""
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
    for name, value in definitions.given_to(
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
    known = definitions.given_to(
        evaluator, around, around.params, bound=holder is not None
    )
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
