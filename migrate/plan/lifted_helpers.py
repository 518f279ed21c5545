"""Functions that make layers, turned into Keras layers of their own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from .arguments import UnknownArguments, match_arguments
from .lifted_names import Lifted, camel, source_text
from .model_fn_source import Source
from .statements import is_docstring
from .tree import statements_of

if TYPE_CHECKING:
    from .lifter import Lifter

__all__ = ["finish", "lift_helper"]


def lift_helper(
    lifter: Lifter, defined: cst.FunctionDef, call: cst.Call, wanted: str
) -> cst.BaseExpression:
    """The call of the layer that takes the function's place."""
    source = lifter.source
    if not isinstance(source.tree.parent(defined), cst.Module):
        shown = defined.name.value
        raise source.stop(call, f"`{shown}` makes layers in a nested function")
    parameters = [p.name.value for p in defined.params.params]
    if defined.params.kwonly_params or defined.params.star_kwarg is not None:
        raise source.stop(call, f"`{defined.name.value}` takes star arguments")
    try:
        given = match_arguments(call, parameters)
    except UnknownArguments as problem:
        reason = f"`{defined.name.value}` called with {problem}"
        raise source.stop(call, reason) from None
    roles = {name: _role(lifter, given.get(name)) for name in parameters}
    lifted = lifter.shared.helpers.get(defined)
    if lifted is None:
        lifted = _lift(lifter, defined, roles)
        lifter.shared.helpers[defined] = lifted
    for name, role in roles.items():
        if lifted.roles[name] == "config" and role != "config":
            reason = f"`{name}` of `{defined.name.value}` is not always a plain value"
            raise source.stop(call, reason)
    lifter.shared.lifted_calls.append(call)
    inside, outside = [], []
    flag = ""
    for argument in call.args:
        name = argument.keyword.value if argument.keyword else ""
        if not name:
            name = parameters[call.args.index(argument)]
        shown = f"{name}=" if argument.keyword is not None else ""
        if lifted.roles[name] == "config":
            inside.append(shown + lifter.text(argument.value))
        elif lifted.roles[name] == "training":
            flag = source_text(lifter.moved(argument.value))
        else:
            outside.append(shown + source_text(lifter.moved(argument.value)))
    if not outside:
        reason = f"`{defined.name.value}` makes layers without being given a tensor"
        raise source.stop(call, reason)
    if lifted.training:
        for parameter in defined.params.params:
            name, default = parameter.name.value, parameter.default
            if lifted.roles[name] == "training" and not flag and default is not None:
                flag = source_text(default)
        outside.append(f"training={flag or 'False'}")
    # The layer of a copy has the name that the original's has.
    wanted = re.sub(r"__\d+\Z", "", defined.name.value)
    made = lifter.make(wanted, f"{lifted.name}({', '.join(inside)})")
    return cst.parse_expression(f"{made}({', '.join(outside)})")


def _role(lifter: Lifter, node: cst.BaseExpression | None) -> str:
    from .lifter import Kind

    if node is None:
        return "config"  # its default
    if isinstance(node, cst.Name) and lifter.kinds.get(node.value) is Kind.MODE:
        return "training" if node.value == "mode" else "tensor"
    if isinstance(node, cst.Name) and lifter.kinds.get(node.value) is Kind.TRAINING:
        return "training"
    if lifter.mode_kind(node) is Kind.TRAINING:
        return "training"
    return "config" if lifter.is_config(node) else "tensor"


def _lift(lifter: Lifter, defined: cst.FunctionDef, roles: dict[str, str]) -> Lifted:
    from .lifter import Kind, Lifter

    if any(done is defined for done in lifter.shared.helpers):
        raise lifter.source.stop(defined, f"`{defined.name.value}` calls itself")
    source = Source(lifter.tree, defined)
    kinds = {
        name: {"config": Kind.CONFIG, "tensor": Kind.TENSOR}.get(role, Kind.TRAINING)
        for name, role in roles.items()
    }
    if roles.get("mode") == "training":
        kinds["mode"] = Kind.MODE
    inner = Lifter(source, lifter.modes, lifter.shared, kinds)
    body = defined.body
    assert isinstance(body, cst.IndentedBlock)
    statements = statements_of(body)
    docstring = None
    if statements and is_docstring(statements[0]):
        docstring = source_text(statements[0])
        statements = statements[1:]
    call = inner.lift(statements)
    by_name = {p.name.value: p for p in defined.params.params}

    def shown(name: str) -> str:
        default = by_name[name].default
        return name if default is None else f"{name}={source_text(default)}"

    return finish(
        inner,
        name=_free(lifter, camel(defined.name.value)),
        base="Layer",
        docstring=docstring,
        parameters=tuple(shown(n) for n, role in roles.items() if role == "config"),
        arguments=tuple(shown(n) for n, role in roles.items() if role == "tensor"),
        call=tuple(source_text(s) for s in call),
        roles=roles,
    )


def _free(lifter: Lifter, wanted: str) -> str:
    taken = set(lifter.tree.resolver.scopes.module_scope.bindings) | lifter.shared.names
    name = wanted
    while name in taken:
        name += "Layer"
    lifter.shared.names.add(name)
    return name


def finish(
    lifter: Lifter,
    *,
    name: str,
    base: str,
    docstring: str | None,
    parameters: tuple[str, ...],
    arguments: tuple[str, ...],
    call: tuple[str, ...],
    roles: dict[str, str] | None = None,
) -> Lifted:
    """The class that a lifter has collected."""
    names = {parameter.partition("=")[0] for parameter in parameters}
    stored = names & lifter.call_reads
    return Lifted(
        name=name,
        base=base,
        docstring=docstring,
        parameters=parameters,
        arguments=arguments,
        init=tuple(lifter.init_code(stored)),
        call=call,
        training=lifter.uses_training,
        roles=dict(roles or {}),
        definition=lifter.source.defined,
    )
