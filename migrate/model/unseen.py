"""Why it is not seen what a call does: which value stops, and where it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from ..names.scopes import Binding, BindingKind
from ..project.facts import ParsedModule
from .arguments import parameters_of
from .values import (
    Argument,
    Choice,
    Config,
    Env,
    Instance,
    Symbol,
    Time,
    Unknown,
    Value,
)

if TYPE_CHECKING:
    from .evaluator import Evaluator

# Methods of tensors, optimizers, containers and texts: they make no layers.
_PLAIN_NAMES = """
add append apply apply_gradients as_list assign assign_add assign_sub batch
compute_gradients copy decode encode end endswith eval extend filter format
from_tensor gather get get_next get_shape get_slot insert is_fully_defined items
join keys length lookup lower make_initializable_iterator make_one_shot_iterator
map merge_with minimize padded_batch pop prefetch read repeat replace reverse run
save set_shape setdefault shuffle size sort split stack startswith strip unstack
update upper values variables with_rank write zfill
"""
_PLAIN_METHODS = frozenset(_PLAIN_NAMES.split())
_LONGEST = 60


def may_make(
    evaluator: Evaluator,
    node: cst.BaseExpression,
    value: Value,
    env: Env,
    known: str = "",
) -> str:
    """That what is called may make variables, why that is not seen, and what it is."""
    shown = _short(evaluator, node, env)
    why = origin(evaluator, node, value, env)
    why += f" (perhaps {known})" if known else ""
    return f"`{shown}` may make variables: {why}"


def is_of_step(arguments: Sequence[Argument], module: ParsedModule) -> bool:
    """A function is given the global step alone, as learning rates are."""
    if len(arguments) != 1:
        return False
    node = arguments[0].node
    bound = module.resolver.bindings(node) if isinstance(node, cst.Name) else ()
    made = bound[0].value if len(bound) == 1 else node
    symbol = module.resolver.resolve(made.func) if isinstance(made, cst.Call) else None
    return (symbol or "").startswith("tf.") and (symbol or "").endswith("global_step")


def pass_over(
    evaluator: Evaluator, node: cst.Call, callee: Value, time: Time, env: Env
) -> None:
    """Notes a call on tensors that might make layers which nobody sees."""
    func = node.func
    if time is not Time.GRAPH:
        return
    holder: Value | None = callee
    if isinstance(func, cst.Attribute):
        if func.attr.value in _PLAIN_METHODS or func.attr.value.startswith("_"):
            return
        holder = evaluator.notes.values.get(func.value)
    # What the graph gave has methods of TensorFlow's own.
    if isinstance(holder, (Config, Instance)):
        shown = _short(evaluator, func, env)
        why = origin(evaluator, func, callee, env)
        reason = f"no layers are seen, for `{shown}` is not followed: {why}"
        evaluator.notes.passed.setdefault(node, Unknown(reason, node, env.module))


def origin(
    evaluator: Evaluator, node: cst.BaseExpression, value: Value, env: Env
) -> str:
    """Where a value comes from that is not understood."""
    if isinstance(value, Symbol):
        return _of_package(evaluator, value.name, env.module)
    if isinstance(value, Instance):
        name = value.node.name.value
        return f"no `__call__` of the class `{name}` is among the files"
    if isinstance(value, Choice):
        for one in value.options:
            if isinstance(one, Symbol):
                return _of_package(evaluator, one.name, env.module)
    held = node
    while True:
        if isinstance(held, cst.Attribute):
            given = _given_to_class(evaluator, held, env)
            if given is not None:
                return given
            if _is_method(evaluator, held):
                name = held.attr.value
                return f"the decorators of `{name}` are not understood"
            if isinstance(evaluator.notes.values.get(held.value), Instance):
                break
            held = held.value
        elif isinstance(held, cst.Subscript):
            shown = _short(evaluator, held.value, env)
            return f"it is an entry of `{shown}`, and not seen what that holds"
        else:
            break
    if isinstance(held, cst.Name):
        return _of_name(evaluator, held, env)
    shown = _short(evaluator, held, env)
    if isinstance(held, cst.Attribute):
        return f"it is not seen what `{shown}` is"
    return f"it comes of `{shown}`"


def _of_package(evaluator: Evaluator, symbol: str, module: ParsedModule) -> str:
    """Why a name of another module is not known."""
    kind, _, name = symbol.partition(".")
    if kind == "decorated":
        return f"the decorators of `{name}` are not understood"
    parts = symbol.split(".")
    for count in range(len(parts) - 1, 0, -1):
        path = evaluator.facts.locate(".".join(parts[:count]), module.path)
        if path is not None:
            name = ".".join(parts[count:])
            return f"`{name}` is not defined once, by name, in {path.name}"
    return f"the package `{parts[0]}` is not among the files"


def _given_to_class(evaluator: Evaluator, node: cst.Attribute, env: Env) -> str | None:
    """Which argument of its class an attribute of an object is."""
    holder = evaluator.notes.values.get(node.value)
    value = evaluator.notes.values.get(node)
    if not isinstance(holder, Instance) or value is None or value.term is None:
        return None
    name = value.term.kind.strip("`")
    function = evaluator.method(holder, "__init__")
    if function is None or not name.isidentifier():
        return None
    if name not in {one.name.value for one in parameters_of(function.node.params)}:
        return None
    made = holder.node.name.value
    return f"no call that is seen says what `{made}` is given as `{name}`"


def _is_method(evaluator: Evaluator, node: cst.Attribute) -> bool:
    holder = evaluator.notes.values.get(node.value)
    if not isinstance(holder, Instance):
        return False
    function = evaluator.method(holder, node.attr.value)
    return function is not None and bool(
        isinstance(function.node, cst.FunctionDef) and function.node.decorators
    )


def _of_name(evaluator: Evaluator, node: cst.Name, env: Env) -> str:
    bound: Sequence[Binding] = env.module.resolver.bindings(node)
    name = node.value
    for one in bound:
        if one.kind is BindingKind.PARAMETER:
            holder = getattr(one.scope.node, "name", None)
            called = holder.value if isinstance(holder, cst.Name) else "lambda"
            return f"no call that is seen says what `{called}` is given as `{name}`"
        if one.kind is BindingKind.ASSIGN and one.value is not None:
            value: cst.BaseExpression = one.value
            shown = _short(evaluator, value, env)
            return f"it comes of `{shown}`"
        if one.kind is BindingKind.IMPORT and one.target is not None:
            return _of_package(evaluator, one.target, env.module)
    return f"it is not seen what `{name}` is"


def _short(evaluator: Evaluator, node: cst.CSTNode, env: Env) -> str:
    """The source of an expression in one line, if need be cut off."""
    code = " ".join(evaluator.code(node, env).split())
    return code if len(code) <= _LONGEST else code[: _LONGEST - 3] + "..."
