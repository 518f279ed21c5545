"""Objects that are asked for layers by one method are networks that are called."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import libcst as cst

from ...code.edits import changed
from ...code.tree import Tree, walk
from ...project.facts import ParsedModule, ProjectFacts
from .local_functions import MAKES_LAYERS

# What a network does not know of.
_MORE = re.compile(
    r"\bmode\b|ModeKeys|Spec\(|metrics\.|losses\.|[Oo]ptimiz|tf\.train\.|get_collection"
    r"|summary|cached_property|__getattr__|global_step|_with_logits"
)
_STORED = re.compile(r"\bself\.\w+(\[.*\])?(, self\.\w+)* [-+*/]?= ")
_Calls = list[tuple[cst.Attribute, str]]


def with_networks_called(
    files: Sequence[ParsedModule], facts: ProjectFacts
) -> list[ParsedModule]:
    """The files with ``net(x)`` for ``net.build(x)``, of a class that makes layers.

    An object of it is asked for nothing else, once where it is made.
    """
    for place, parsed in enumerate(files):
        for kind in parsed.each(cst.ClassDef):
            method = _entry(parsed, kind)
            if method is None:
                continue
            calls = [_calls(one, kind.name.value) for one in files]
            names = {name for found in calls for _, name in found or ()}
            if None in calls or names != {method.name.value}:
                continue
            places: list[dict[cst.CSTNode, Any]] = [
                {node: node.value for node, _ in found or ()} for found in calls
            ]
            places[place][method.name] = cst.Name("__call__")
            files = [
                changed(one, facts, edits) if edits else one
                for one, edits in zip(files, places, strict=True)
            ]
            return with_networks_called(files, facts)
    return [*files]


def _entry(parsed: ParsedModule, kind: cst.ClassDef) -> cst.FunctionDef | None:
    """The one method that others do not call, of a plain class that makes layers."""
    code = parsed.module.code_for_node
    text = code(kind)
    bases = [code(one.value) for one in kind.bases]
    methods = [one for one in kind.body.body if isinstance(one, cst.FunctionDef)]
    named = {one.name.value for one in methods}
    if (
        bases not in ([], ["object"])
        or kind.decorators
        or any(one.decorators for one in methods)
        or {"__call__", "call"} & named
        or "__init__" not in named
        or MAKES_LAYERS.search(text) is None
        or _MORE.search(text) is not None
    ):
        return None
    others = [one for one in methods if one.name.value != "__init__"]
    if any(_STORED.search(code(one)) for one in others):
        return None
    free = [one for one in others if f"self.{one.name.value}(" not in text]
    init = next(code(one) for one in methods if one.name.value == "__init__")
    # Its constructor makes nothing yet: it may be given what the layers take.
    built = any(f"self.{one.name.value}(" in init for one in others)
    told = len(free) == 1 and len(free[0].params.params) > 1
    return free[0] if told and not built else None


def _calls(parsed: ParsedModule, kind: str) -> _Calls | None:
    """What objects of a class are asked for in a file; None for more than methods."""
    tree = Tree(parsed.module, parsed.resolver)
    found: _Calls = []
    for node in parsed.each(cst.Name):
        if node.value != kind or node not in tree.resolver.scopes.loads:
            continue
        made = tree.parent(node)
        if isinstance(made, cst.Attribute):
            made = tree.parent(made)  # models.Net(...)
        holder = tree.parent(made) if made is not None else None
        if not isinstance(made, cst.Call) or holder is None:
            return None
        asked = [holder]
        if isinstance(holder, cst.Assign) and len(holder.targets) == 1:
            target = holder.targets[0].target
            around = tree.function(holder)
            if not isinstance(target, cst.Name) or around is None:
                return None
            bound = tree.resolver.scopes.opened[around].bindings.get(target.value, ())
            uses = [
                one
                for one in walk(around, cst.Name)
                if one.value == target.value and one in tree.resolver.scopes.loads
            ]
            asked = [one for use in uses if (one := tree.parent(use)) is not None]
            if len(bound) != 1 or len(uses) != 1:
                return None
        for one in asked:
            call = tree.parent(one)
            if (
                not isinstance(one, cst.Attribute)
                or not isinstance(call, cst.Call)
                or call.func is not one
            ):
                return None
            found.append((one, one.attr.value))
    return found
