"""Expressions: what each is, and what the names in it stand for."""

from __future__ import annotations

import ast
import builtins
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce

import libcst as cst

from ..code.tree import statements_of
from ..names.nodes import children
from ..project.facts import Definition, ParsedModule, ProjectFacts
from .arguments import element_of
from .by_name import is_outer, is_setting
from .definitions import constant, is_filled, is_named_dict, method_of, name_of
from .notes import Notes
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
    Seq,
    Symbol,
    Tensor,
    Time,
    Unknown,
    Value,
    join,
    latest,
    loose,
    one_of,
    time_of,
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


@dataclass
class _Appended:
    """What a list of an object began with, and has been given since."""

    begun: Value
    # By the place that appended it, and the names of the call that did.
    sites: dict[tuple[cst.CSTNode, int], tuple[Env, Value]] = field(
        default_factory=dict
    )
    held: Value | None = None


class Expressions(ABC):
    """The part of an evaluation that gives values to expressions."""

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
        # Dicts whose entries are being looked for.
        self.filling: set[cst.CSTNode] = set()
        self.held: dict[cst.CSTNode, Instance | None] = {}  # by modules
        self._running: list[tuple[object, ...]] = []
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

    @abstractmethod
    def assign(self, target: cst.BaseExpression, value: Value, env: Env) -> None:
        """Gives a value to a name, to several, or to a part of something."""

    @abstractmethod
    def called(self, node: cst.Call, env: Env) -> Value:
        """What a call gives."""

    @abstractmethod
    def is_scoped(self, instance: Instance) -> bool:
        """A class that came out of lifting."""

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
        found = found or constant(node, env)
        if found is not None:
            return self._defined(found)
        dotted = resolver.qualified(node)
        if dotted is not None:
            return Config() if is_setting(self, dotted, env) else Symbol(dotted)
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
            return self.defined(found.node, found.module, None)
        if isinstance(found.node, cst.ClassDef):
            return Instance(found.node, found.module)
        if isinstance(found.node, (cst.Lambda, cst.Integer, cst.Float)):
            return self.expression(found.node, Env(found.module, {}))
        if isinstance(found.node, cst.SimpleString):
            return self.expression(found.node, Env(found.module, {}))
        if isinstance(found.node, (cst.Dict, cst.Tuple)) and not is_filled(found):
            return self.expression(found.node, Env(found.module, {}))
        if is_named_dict(found.node, found.module) and not is_filled(found):
            return self.expression(found.node, Env(found.module, {}))
        if isinstance(found.node, (cst.Dict, cst.Call)):
            held = self.registered(found)
            if held is not None:
                return held
        if isinstance(found.node, cst.Name) and is_outer(found.node, found.module):
            # Another name for it: `xrange = range`.
            return self.outside(found.node, Env(found.module, {}))
        if isinstance(found.node, cst.Call):
            made = found.module.resolver.qualified(found.node.func)
            if made in _MADE_FIRST:
                return self.expression(found.node, Env(found.module, {}))
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

    @abstractmethod
    def decorated(
        self, node: cst.FunctionDef, module: ParsedModule, env: Env | None
    ) -> Value:
        """What a definition gives that has decorators."""

    @abstractmethod
    def registered(self, found: Definition) -> Value | None:
        """What a dict of a module holds that is filled elsewhere."""

    @abstractmethod
    def of_method(self, holder: Instance, found: Function) -> Value:
        """What an object gives for one of its methods."""

    def _attribute(self, node: cst.Attribute, env: Env) -> Value:
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
            if holder.name.startswith("builtins") or is_setting(self, symbol, env):
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
            return name_of(holder)
        if isinstance(holder, (Function, Layer, Cell, Partial)):
            return Tensor()
        return holder if not isinstance(holder, Unknown) else Tensor()

    def method(self, instance: Instance, name: str) -> Function | None:
        """A method of an object, or of what its class is made of."""
        found = method_of(instance.node, name)
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
        owner: Env | None = env
        while owner is not None and root.value not in owner.names:
            owner = owner.outer
        if owner is not None:
            owner.names[root.value] = new
