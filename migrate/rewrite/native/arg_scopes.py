"""Arguments that arg_scopes of tf.contrib and slim give to the layers within."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ...names.ast_nodes import parents_of
from ...names.ast_nodes import walk as walk_ast
from .code import Refused, dotted
from .layers import SIGNATURES, contrib_name
from .text import attribute_of_self, bound_names

if TYPE_CHECKING:
    from .classes import Lifted, Module

__all__ = ["check_outer_scopes", "scopes_of"]

_ARG_SCOPES = ("tf.contrib.framework.arg_scope", "tf.contrib.slim.arg_scope")


class Scope(NamedTuple):
    """Functions of contrib, and arguments that they get: source text by name."""

    functions: frozenset[str]
    given: Mapping[str, str]


def scopes_of(
    withs: Sequence[ast.With],
    of: Callable[[ast.AST], str],
    symbol: Callable[[str], str | None],
) -> list[Scope]:
    """The arg_scopes among blocks; raises Refused where they are not in plain sight."""
    found: list[Scope] = []
    for node in (item.context_expr for block in withs for item in block.items):
        if not isinstance(node, ast.Call) or symbol(of(node.func)) not in _ARG_SCOPES:
            continue
        first = node.args[0] if len(node.args) == 1 else None
        if not isinstance(first, (ast.List, ast.Tuple)):
            raise Refused(f"`{of(node)}` does not name its functions")
        if any(one.arg is None for one in node.keywords):
            raise Refused(f"`{of(node)}` with `**` arguments")
        names = {contrib_name(symbol(of(one))) for one in first.elts}
        given = {str(one.arg): of(one.value) for one in node.keywords}
        found.append(Scope(frozenset(one for one in names if one), given))
    return found


def check_outer_scopes(module: Module) -> None:
    """Refuses arg_scopes around objects of classes that have such layers, or may."""
    by_name = {one.name: one for one in module.classes}
    for caller in module.classes:
        foreign = dict(_foreign(caller, by_name))
        for attribute, value in caller.attributes().items():
            made = walk_ast(value, ast.Call) + caller.appended(attribute)
            names = {dotted(one.func) for one in made}
            for use in caller.uses(attribute):
                scopes = scopes_of(use.withs, caller.of, caller.symbol)
                if scopes and attribute in foreign:
                    shown = f"`{foreign[attribute]}` of another file"
                    raise Refused(f"an arg_scope is around {shown}")
                for name in names & by_name.keys():
                    _check(scopes, by_name[name], by_name)
    above = parents_of(module.tree)
    for call in walk_ast(module.tree, ast.Call):
        if dotted(call.func) in by_name:
            around: ast.AST = call
            blocks: list[ast.With] = []
            while around in above and not isinstance(around, ast.FunctionDef):
                around = above[around]
                blocks += [around] if isinstance(around, ast.With) else []
            if isinstance(around, ast.FunctionDef) and around.name != "__init__":
                hidden = bound_names(around)

                def symbol(code: str, hidden: set[str] = hidden) -> str | None:
                    return module.symbol(code, hidden)

                scopes = scopes_of(blocks, module.text.of, symbol)
                _check(scopes, by_name[dotted(call.func)], by_name)


def _check(
    scopes: Sequence[Scope], lifted: Lifted, classes: Mapping[str, Lifted]
) -> None:
    names = _functions(lifted, classes, set())
    if any(one.functions & names for one in scopes):
        raise Refused(f"an arg_scope is around the calls of `{lifted.name}`")


def _foreign(
    lifted: Lifted, by_name: Mapping[str, Lifted]
) -> Iterator[tuple[str, str]]:
    """Attributes that classes of other files make, and the names of these."""
    for attribute, value in lifted.attributes().items():
        made = walk_ast(value, ast.Call)
        for one in (*made, *lifted.appended(attribute)):
            name = dotted(one.func)
            known = name in by_name or name.startswith(("tf_keras.", "self."))
            is_class = name.rpartition(".")[2][:1].isupper()
            if is_class and not known and lifted.symbol(name) is None:
                yield attribute, name


def _functions(
    lifted: Lifted, classes: Mapping[str, Lifted], seen: set[str]
) -> set[str]:
    if lifted.name in seen:
        return set()
    seen.add(lifted.name)
    found: set[str] = set()
    for node in walk_ast(lifted.tree):
        if (
            isinstance(node, (ast.Name, ast.Attribute))
            and attribute_of_self(node) is None
        ):
            name = contrib_name(lifted.symbol(dotted(node)))
            if name in SIGNATURES:
                found |= {name, "batch_norm", "layer_norm"}
        if isinstance(node, ast.Name) and node.id in classes:
            found |= _functions(classes[node.id], classes, seen)
    if any(_foreign(lifted, classes)):
        found |= {*SIGNATURES}
    return found
