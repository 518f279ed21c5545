"""Models of one function that are one tower: it is made once, and called again."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from ...names.ast_nodes import parents_of
from ...names.ast_nodes import walk as walk_ast
from .code import dotted
from .sharing import Places
from .text import parameters_of, without_gone

if TYPE_CHECKING:
    from .classes import Lifted, Module


class _Model(NamedTuple):
    """A model of a function, and what makes and calls it."""

    lifted: Lifted
    made: ast.Assign
    called: ast.Assign
    name: str
    # What the function calls `training`.
    flag: str
    # Attributes that are the tower.
    towers: str
    # The tower's class, how it is made, and the places of its variables.
    key: tuple[str, str, tuple[object, ...]]


def with_towers_unfolded(module: Module) -> str | None:
    """The code whose functions call a tower where they called models with its weights.

    Only if `reuse` asks for that, by the name of a scope; None if there are none.
    """
    for function in walk_ast(module.tree):
        models = []
        if isinstance(function, ast.FunctionDef):
            models = [*_models(module, function)]
        if len(models) > 1 and len({one.key for one in models}) == 1:
            return _unfolded(module, models)
    return None


def _models(module: Module, function: ast.FunctionDef) -> Iterator[_Model]:
    """The models of a function that call nothing but a tower; none if some do more."""
    classes = {one.name: one for one in module.classes}
    above = parents_of(function)
    assigned = {
        dotted(one.targets[0]): one
        for one in above
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call)
    }
    values = {name: _call(one) for name, one in assigned.items()}
    for name, made in assigned.items():
        lifted = classes.get(dotted(values[name].func))
        calls = [assigned[n] for n, one in values.items() if dotted(one.func) == name]
        towers = lifted.attributes() if lifted is not None else {}
        if lifted is None or len(calls) != 1 or not towers:
            continue
        scopes = module.scopes_of(_call(calls[0]), above, None)
        (made_by, *others) = {lifted.of(one) for one in towers.values()}
        inner = made_by.partition("(")[0]
        if scopes is None or inner not in classes or others:
            continue
        found = Places(lifted, classes, {}, scopes).attributes()
        places = found[0][1] if found else []
        given = [module.text.of(one) for one in values[name].args]
        named = [module.text.of(one) for one in _call(calls[0]).args]
        names = parameters_of(lifted.call)[1:]
        flags = [b for a, b in zip(names, named, strict=False) if a == "training"]
        if (
            places
            and all(one == places for _, one in found)
            and all(part[0].known and " " not in part[0].text for part in places)
            and given == parameters_of(lifted.init)[1:]
            and [one for one in named if one not in flags]
            == [one for one in names if one != "training"]
        ):
            key = (inner, made_by, tuple(places))
            flag = next(iter(flags), "training")
            yield _Model(lifted, made, calls[0], name, flag, "|".join(towers), key)


def _call(statement: ast.Assign) -> ast.Call:
    assert isinstance(statement.value, ast.Call)
    return statement.value


def _unfolded(module: Module, models: list[_Model]) -> str:
    text, first = module.text, models[0]
    inner, made, _ = first.key
    text.put(first.made.value, made)
    for one in models:
        if one is not first:
            text.drop(one.made)
        body = [s for s in one.lifted.call.body if not isinstance(s, ast.Expr)]
        source = one.lifted.source
        start = source.code.rfind("\n", 0, source.span(body[0])[0]) + 1
        *lines, last = body
        end = source.span(lines[-1])[1] if lines else start
        code = textwrap.dedent(source.code[start:end])
        returned = last.value if isinstance(last, ast.Return) else None
        value = source.of(returned) if returned is not None else ""
        target = text.of(one.called.targets[0])
        code += f"\n{target} = {value}" if value != target else ""
        code = re.sub(rf"\bself\.({one.towers})\b", first.name, code.strip("\n"))
        code = re.sub(r"\btraining\b(?!=)", one.flag, code)
        margin = text.indent(one.called)
        text.put(one.called, textwrap.indent(code, margin).removeprefix(margin))
        text.cut(one.lifted.node)
    (tower,) = (one for one in module.classes if one.name == inner)
    text.put(tower.node.bases[0], f"{tower.tf}.estimator.ScopedModel")
    return without_gone(text.done())
