"""Functions that make layers, turned into Keras layers of their own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import libcst as cst

from ..code.arguments import UnknownArguments, match_arguments
from ..code.statements import assigned, is_docstring
from ..code.tree import Statement, only_small, statements_of, walk
from ..model_fn.source import Source
from .lifted_names import Lifted, camel, source_text
from .static_sizes import Sizes
from .variable_places import Place, place_reads

if TYPE_CHECKING:
    from .lifter_state import LiftedState

__all__ = ["finish", "lift_helper"]

# What a function calls the flag that its layers take.
_FLAGS = ("training", "is_training", "train", "is_train")


def lift_helper(
    lifter: LiftedState, defined: cst.FunctionDef, call: cst.Call, wanted: str
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
    roles = {name: _role_of(lifter, defined, name, given) for name in parameters}
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
    naming = dict(lifted.naming)
    for argument in call.args:
        name = argument.keyword.value if argument.keyword else ""
        if not name:
            name = parameters[call.args.index(argument)]
        shown = f"{name}=" if argument.keyword is not None else ""
        if name in naming:
            naming[name] = source_text(argument.value)
        if lifted.roles[name] == "reuse":
            continue
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
    constructor = f"{lifted.name}({', '.join(inside)})"
    place = _place(lifter, lifted, call, naming, constructor)
    first = place is not None and place.name not in lifter.places.made
    # The layer of a copy has the name that the original's has.
    wanted = re.sub(r"__\d+\Z", "", defined.name.value)
    made = lifter.make(wanted, constructor, place=place, node=call)
    if first:
        lifter.places.take(lifted.fixed, call)
    return cst.parse_expression(f"{made}({', '.join(outside)})")


def _place(
    lifter: LiftedState,
    lifted: Lifted,
    call: cst.Call,
    naming: dict[str, str],
    constructor: str,
) -> Place | None:
    """What the variables of a helper's layers are called, where they have names.

    A helper whose layers are all in a scope of its own shares them with a call that
    gives that scope the same name.
    """
    if not lifted.fixed and not lifted.loose:
        return None
    if not lifted.fixed:
        return lifter.places.place(call, None, f"{lifted.name}()")
    given = ", ".join(f"{name}={code}" for name, code in naming.items())
    place = lifter.places.place(call, f"{lifted.name}({given})", "")
    if lifted.loose and lifter.places.again(place, constructor, call) is not None:
        reason = "variables that are reused beside others that are not"
        raise lifter.source.stop(call, reason)
    return place


def _only_tells_reuse(lifter: LiftedState, defined: cst.FunctionDef, name: str) -> bool:
    """The parameter is handed on as ``reuse=`` and read nowhere else."""
    holders = [lifter.tree.parent(node) for node in _reads(lifter, defined, name)]
    return bool(holders) and all(
        isinstance(holder, cst.Arg)
        and holder.keyword is not None
        and holder.keyword.value == "reuse"
        for holder in holders
    )


def _role_of(
    lifter: LiftedState,
    defined: cst.FunctionDef,
    name: str,
    given: dict[str, cst.BaseExpression],
) -> str:
    if _only_tells_reuse(lifter, defined, name):
        return "reuse"
    value = given.get(name)
    if (
        isinstance(value, cst.Name)
        and value.value in ("True", "False")
        and any(_is_handed_on(lifter, node) for node in _reads(lifter, defined, name))
    ):
        return "training"
    return _role(lifter, value)


def _is_handed_on(lifter: LiftedState, node: cst.Name) -> bool:
    """``training=name``, or the argument of a helper that hands it on so."""
    holder = lifter.tree.parent(node)
    if not isinstance(holder, cst.Arg):
        return False
    if holder.keyword is not None:
        return holder.keyword.value in _FLAGS
    call = lifter.tree.parent(holder)
    assert call is not None
    called = lifter.tree.resolver.definition(getattr(call, "func", call))
    if not isinstance(called, cst.FunctionDef) or not isinstance(call, cst.Call):
        return False
    place = call.args.index(holder)
    names = [p.name.value for p in called.params.params]
    return place < len(names) and names[place] in _FLAGS


def _reads(lifter: LiftedState, defined: cst.FunctionDef, name: str) -> list[cst.Name]:
    """The places in a function that read one of its parameters."""
    return [
        node
        for node in walk(defined.body)
        if isinstance(node, cst.Name)
        and node.value == name
        and node in lifter.tree.resolver.scopes.loads
    ]


def _role(lifter: LiftedState, node: cst.BaseExpression | None) -> str:
    from .lifter_state import Kind

    if node is None:
        return "config"  # its default
    if isinstance(node, cst.Name) and lifter.kinds.get(node.value) is Kind.MODE:
        return "training" if node.value == "mode" else "tensor"
    if isinstance(node, cst.Name) and lifter.kinds.get(node.value) is Kind.TRAINING:
        return "training"
    if lifter.mode_kind(node) is Kind.TRAINING:
        return "training"
    return "config" if lifter.is_config(node) else "tensor"


def _lift(
    lifter: LiftedState, defined: cst.FunctionDef, roles: dict[str, str]
) -> Lifted:
    from .lifter import Lifter
    from .lifter_state import Kind

    given_as = {
        "config": Kind.CONFIG,
        "reuse": Kind.CONFIG,
        "tensor": Kind.TENSOR,
    }
    if any(done is defined for done in lifter.shared.helpers):
        raise lifter.source.stop(defined, f"`{defined.name.value}` calls itself")
    source = Source(lifter.tree, defined)
    kinds = {name: given_as.get(role, Kind.TRAINING) for name, role in roles.items()}
    if roles.get("mode") == "training":
        kinds["mode"] = Kind.MODE
    inner = Lifter(source, lifter.modes, lifter.shared, kinds)
    first = next((name for name, role in roles.items() if role == "tensor"), None)
    inner.sizes = sizes = Sizes(inner, first)
    body = defined.body
    assert isinstance(body, cst.IndentedBlock)
    statements = statements_of(body)
    docstring = None
    if statements and is_docstring(statements[0]):
        docstring = source_text(statements[0])
        statements = statements[1:]
    call = _read_only(inner.lift(statements), set(sizes.names))
    by_name = {p.name.value: p for p in defined.params.params}

    def shown(name: str) -> str:
        default = by_name[name].default
        return name if default is None else f"{name}={source_text(default)}"

    named = set().union(*(place_reads(name) for name in inner.places.fixed))
    naming = tuple(
        (n, source_text(p.default) if p.default is not None else "")
        for n, p in by_name.items()
        if n in named
    )
    made = finish(
        inner,
        name=_free(lifter, camel(defined.name.value)),
        base="Layer",
        docstring=docstring,
        parameters=tuple(shown(n) for n, role in roles.items() if role == "config"),
        arguments=tuple(shown(n) for n, role in roles.items() if role == "tensor"),
        call=tuple(source_text(s) for s in call),
        roles=roles,
    )
    build = sizes.build()
    if build:
        made.methods = (*made.methods, build)
    made.naming, made.loose = naming, inner.places.loose
    made.fixed = frozenset(inner.places.fixed)
    return made


def _read_only(call: Sequence[Statement], sizes: set[str]) -> list[Statement]:
    """The statements without sizes that only ``build`` reads."""
    found: list[Statement] = []
    read: set[str] = set()
    for statement in reversed(call):
        small = only_small(statement)
        names = set(assigned(statement))
        if isinstance(small, cst.Assign) and names and names <= sizes - read:
            continue
        found.append(statement)
        for node in walk(statement):
            if isinstance(node, cst.Name):
                read.add(node.value)
    return found[::-1]


def _free(lifter: LiftedState, wanted: str) -> str:
    taken = set(lifter.tree.resolver.scopes.module_scope.bindings) | lifter.shared.names
    name = wanted
    while name in taken:
        name += "Layer"
    lifter.shared.names.add(name)
    return name


def finish(
    lifter: LiftedState,
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
