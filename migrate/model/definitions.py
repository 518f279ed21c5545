"""What definitions of the project give: with decorators, registered, abstract."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import TYPE_CHECKING

import libcst as cst

from ..code.tree import statements_of
from ..names.scopes import BindingKind
from ..project.facts import Definition, ParsedModule, ProjectFacts
from .arguments import Argument
from .values import (
    Config,
    Const,
    Dict,
    Each,
    Env,
    Function,
    Instance,
    Property,
    Seq,
    Symbol,
    Tensor,
    Value,
    join,
    options_of,
)

if TYPE_CHECKING:
    from .evaluator import Evaluator

_ABSTRACT = {"abstractmethod", "abc.abstractmethod"}
_RECORDS = {"typing.NamedTuple", "dataclasses.dataclass"}
_PROPERTIES = (
    "builtins.property",
    "functools.cached_property",
    "werkzeug.utils.cached_property",
)
_GRADIENT = "tf.custom_gradient"
# What gives an answer again; layers it would share.
_CACHES = ("functools.cache", "functools.lru_cache")


def decorated(
    evaluator: Evaluator, node: cst.FunctionDef, module: ParsedModule, env: Env | None
) -> Value:
    """What a definition gives whose decorators are the project's own functions."""
    shown = Symbol(f"decorated.{node.name.value}")
    function = Function(node, module, env)
    value: Function | Property | Value = function
    for one in reversed(node.decorators):
        known = module.resolver.qualified(_function_of(one.decorator))
        if known in ("functools.wraps", "six.wraps"):
            continue
        if module.resolver.resolve(one.decorator) == _GRADIENT:
            return shown if _makes(evaluator, function) else Symbol(f"{_GRADIENT}().")
        if isinstance(value, Property):
            return shown
        if known in _CACHES:
            if not isinstance(value, Function) or _makes(evaluator, value):
                return shown
            continue
        outer = env or Env(module, {})
        around = evaluator.expression(one.decorator, outer)
        if isinstance(around, (Config, Symbol)):
            around = evaluator.held_method(one.decorator, outer) or around
        if isinstance(around, Symbol) and around.name in _PROPERTIES:
            if not isinstance(value, Function):
                return shown
            value = Property(value)
            continue
        if not isinstance(around, Function):
            return shown
        call = one.decorator
        if not isinstance(call, cst.Call):
            call = cst.Call(one.decorator)
        name = cst.Name(node.name.value)
        value = evaluator.call(around, call, [Argument(value, name)], outer)
        if not isinstance(value, (Function, Property)):
            return shown
    # It is reached by what the decorator does with it, and keeps its place.
    evaluator.notes.staying.add(node)
    return value


def _function_of(node: cst.BaseExpression) -> cst.BaseExpression:
    return node.func if isinstance(node, cst.Call) else node


def _makes(evaluator: Evaluator, function: Function) -> bool:
    """A function of tensors makes variables after all."""
    names = [one.name.value for one in function.node.params.params]
    _, makes = evaluator.enter(function, {name: Tensor() for name in names})
    return makes


def member(evaluator: Evaluator, holder: Instance, found: Function) -> Value | None:
    """What an object gives for a method that has decorators; None: not known."""
    assert isinstance(found.node, cst.FunctionDef)
    resolver = found.module.resolver
    names = {
        resolver.qualified(one.decorator) or getattr(one.decorator, "value", None)
        for one in found.node.decorators
    }
    if names <= _ABSTRACT:
        return found
    if names == {"staticmethod"}:
        return replace(found, owner=None)
    if names == {"classmethod"}:
        above = Instance(holder.node, holder.module, holder.attributes, env=holder.env)
        return replace(found, owner=above)
    made = decorated(evaluator, found.node, found.module, found.env)
    if isinstance(made, Property):
        return Property(replace(made.function, owner=found.owner))
    if isinstance(made, Function):
        return replace(made, owner=found.owner)
    return None


def is_abstract(node: cst.CSTNode) -> bool:
    """A method that says nothing: classes that derive from its class do."""
    if not isinstance(node, cst.FunctionDef):
        return False
    body = node.body
    smalls: list[cst.BaseSmallStatement] = []
    if isinstance(body, cst.IndentedBlock):
        for one in statements_of(body):
            if not isinstance(one, cst.SimpleStatementLine):
                return False
            smalls += one.body
    else:
        smalls += [one for one in body.body if isinstance(one, cst.BaseSmallStatement)]
    texts = (cst.SimpleString, cst.ConcatenatedString, cst.Ellipsis)
    return all(
        isinstance(one, (cst.Pass, cst.Raise))
        or (isinstance(one, cst.Expr) and isinstance(one.value, texts))
        for one in smalls
    )


def is_record(instance: Instance) -> bool:
    """A class that holds values under names and does nothing."""
    resolver = instance.module.resolver
    above = [one.value for one in instance.node.bases]
    above += [one.decorator for one in instance.node.decorators]
    names = {
        resolver.qualified(one.func if isinstance(one, cst.Call) else one)
        for one in above
    }
    return bool(names & _RECORDS) and not any(
        isinstance(one, cst.FunctionDef) for one in instance.node.body.body
    )


def overriding(evaluator: Evaluator, holder: Instance, name: str) -> Value | None:
    """What methods of that name do in classes that derive from an object's class."""
    found: Value | None = None
    for module, node in _classes(evaluator.files.values()):
        above = evaluator.derived.setdefault(
            (holder, node), Instance(node, module, holder.attributes, made=True)
        )
        if node is holder.node or not _derives(evaluator, above, holder.node):
            continue
        assert isinstance(node.body, cst.IndentedBlock)
        for one in statements_of(node.body):
            if (
                isinstance(one, cst.FunctionDef)
                and one.name.value == name
                and not is_abstract(one)
            ):
                value: Value | None = Function(one, module, owner=above)
                if isinstance(value, Function) and one.decorators:
                    value = member(evaluator, above, value)
                found = join(found, value or Config())
    return found


def _classes(
    files: Iterable[ParsedModule],
) -> Iterator[tuple[ParsedModule, cst.ClassDef]]:
    for module in files:
        for one in module.module.body:
            if isinstance(one, cst.ClassDef) and isinstance(
                one.body, cst.IndentedBlock
            ):
                yield module, one


def _derives(
    evaluator: Evaluator, one: Instance, above: cst.ClassDef, depth: int = 0
) -> bool:
    return depth < 8 and any(
        base.node is above or _derives(evaluator, base, above, depth + 1)
        for base in evaluator.bases(one)
    )


def given_to(
    evaluator: Evaluator,
    node: cst.FunctionDef | cst.ClassDef,
    parameters: cst.Parameters,
    *,
    bound: bool = False,
) -> dict[str, Value]:
    """Functions and objects that calls of a function, anywhere, give it by name.

    What else it may be given only the program knows.
    """
    names = [one.name.value for one in parameters.params][1 if bound else 0 :]
    found: dict[str, Value] = {}
    for module in evaluator.files.values():
        ask = partial(_calls_of_names, evaluator.facts, module)
        calls = module.resolver.once(_calls_of_names, ask)
        for known, given in calls.get(node.name.value, ()):
            if type(known) is not type(node):
                continue
            for place, one in enumerate(given):
                if one.star:
                    break
                name = one.keyword.value if one.keyword is not None else None
                if name is None:
                    name = names[place] if place < len(names) else None
                if name is None or not isinstance(one.value, (cst.Name, cst.Attribute)):
                    continue
                value = evaluator.expression(one.value, Env(module, {}))
                if any(isinstance(v, (Function, Instance)) for v in options_of(value)):
                    found[name] = join(found.get(name), value)
    return found


def _calls_of_names(
    facts: ProjectFacts, module: ParsedModule
) -> dict[str, list[tuple[cst.CSTNode, Sequence[cst.Arg]]]]:
    """What a file calls in whatever file, with which arguments, by its name there."""
    found: dict[str, list[tuple[cst.CSTNode, Sequence[cst.Arg]]]] = {}
    for call in module.resolver.scopes.calls.values():
        called, given = _called(call, module)
        if isinstance(called, (cst.Name, cst.Attribute)):
            known = facts.definition(called, module)
            if known is not None:
                found.setdefault(known.name, []).append((known.node, given))
    return found


def _called(
    call: cst.Call, module: ParsedModule
) -> tuple[cst.BaseExpression, Sequence[cst.Arg]]:
    """What is called with what; by `functools.partial`, at some time."""
    if call.args and module.resolver.qualified(call.func) == "functools.partial":
        return call.args[0].value, call.args[1:]
    return call.func, call.args


def unwritten(
    parameters: cst.Parameters, said: set[str], defaults: dict[str, Value]
) -> list[tuple[str, Value]]:
    """What ``**options`` may give, whose keys nobody sees."""
    found: list[tuple[str, Value]] = []
    for one in (*parameters.params, *parameters.kwonly_params):
        name = one.name.value
        if name not in said:
            known = defaults.get(name)
            plain = known is None or isinstance(known, (Const, Config))
            found.append((name, Config() if plain else join(known, Config())))
    return found


def constant(node: cst.Name | cst.Attribute, env: Env) -> Definition | None:
    """What a name of the same module is set to, once."""
    bound = env.module.resolver.bindings(node) if isinstance(node, cst.Name) else []
    scope = env.module.resolver.scopes.module_scope
    if len(bound) != 1 or bound[0].scope is not scope or bound[0].value is None:
        return None
    if bound[0].kind is not BindingKind.ASSIGN:
        return None
    assert isinstance(node, cst.Name)
    return Definition(env.module, node.value, bound[0].value)


def held(
    holder: Value, called: cst.Attribute, arguments: Sequence[Argument], env: Env
) -> Value | None:
    """What a method of a dict of functions gives: one of them, or all in turn.

    Whatever a dict holds, one of its entries can be taken out of it.
    """
    method = called.attr.value
    if not isinstance(holder, Dict) or method not in ("get", "items", "pop", "values"):
        return None
    if method == "pop":
        return _taken(holder, called.value, arguments, env)
    values = [value for _, value in holder.items]
    if not values or not all(isinstance(v, (Function, Instance)) for v in values):
        return None
    found = reduce(join, values[1:], values[0])
    if method == "get":
        return found
    return Each(Seq((Config(), found)) if method == "items" else found)


def _taken(
    holder: Dict, node: cst.BaseExpression, arguments: Sequence[Argument], env: Env
) -> Value | None:
    """``options.pop("name", None)``: a dict of the function is without it then."""
    if not isinstance(node, cst.Name) or node.value not in env.names:
        return None
    if not arguments or not isinstance(arguments[0].value, Const):
        return None
    key = arguments[0].value.value
    default = arguments[1].value if len(arguments) > 1 else None
    rest = tuple(item for item in holder.items if item[0] != key)
    env.names[node.value] = Dict(rest)
    return dict(holder.items).get(key, default)


def is_filled(found: Definition) -> bool:
    """A container of a module that something is put into: elsewhere, or later."""
    if isinstance(found.node, cst.Dict) and not found.node.elements:
        return True
    name = re.escape(found.name)
    later = rf"\b{name}(\s*\[[^]]*\]\s*=[^=]|\.(update|setdefault|pop|clear)\b)"
    return re.search(later, found.module.source.text) is not None


def is_named_dict(node: cst.CSTNode, module: ParsedModule) -> bool:
    """``dict(name=value, ...)``"""
    return (
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Name)
        and node.func.value == "dict"
        and not module.resolver.bindings(node.func)
        and bool(node.args)
        and all(one.keyword is not None for one in node.args)
    )


def method_of(node: cst.ClassDef, name: str) -> cst.FunctionDef | None:
    """The method that a class itself has under a name."""
    for one in (
        statements_of(node.body) if isinstance(node.body, cst.IndentedBlock) else ()
    ):
        if isinstance(one, cst.FunctionDef) and one.name.value == name:
            return one
    return None


def name_of(function: Function) -> Value:
    """``function.__name__``."""
    node = function.node
    return Const(node.name.value if isinstance(node, cst.FunctionDef) else "<lambda>")


def is_outer(node: cst.Name, module: ParsedModule) -> bool:
    """A name of Python's own, or one that is only imported."""
    bound = module.resolver.bindings(node)
    if not bound:
        return hasattr(builtins, node.value)
    return all(one.kind is BindingKind.IMPORT for one in bound)
