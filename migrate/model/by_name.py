"""What names of files stand for: settings, and what is around a function."""

from __future__ import annotations

import builtins
import os
from typing import TYPE_CHECKING

import libcst as cst

from ..names.scopes import BindingKind
from ..project.facts import ParsedModule
from .values import Env

if TYPE_CHECKING:
    from .expressions import Expressions


def is_setting(evaluator: Expressions, dotted: str, env: Env) -> bool:
    """A name of one of the files given, which holds what no call has made."""
    module, _, name = dotted.rpartition(".")
    path = evaluator.facts.locate(module, env.module.path) if module else None
    known = evaluator.files.get(os.path.abspath(path)) if path is not None else None
    if known is None:
        return False
    bound = known.resolver.scopes.module_scope.bindings.get(name, [])
    return bool(bound) and all(
        one.kind is BindingKind.ASSIGN
        and not isinstance(one.value, (cst.Call, type(None)))
        for one in bound
    )


def is_outer(node: cst.Name, module: ParsedModule) -> bool:
    """A name of Python's own, or one that is only imported."""
    bound = module.resolver.bindings(node)
    if not bound:
        return hasattr(builtins, node.value)
    return all(one.kind is BindingKind.IMPORT for one in bound)
