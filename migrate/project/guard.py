"""What new text must pass before it may replace a file."""

from __future__ import annotations

import builtins
import re
import warnings

import libcst as cst

from ..names.scope_builder import build_scopes
from ..names.scopes import ScopeTree
from .parsing import parse
from .sources import Source

_OWN_NAME = re.compile(r"__tfmigrate_(?:(?:cell|magic)_\d+|new_cell)__\Z")
_EVERYWHERE = """
__file__ __name__ __doc__ __path__ __package__ __spec__ __loader__ __builtins__
__class__ __module__ __qualname__ __annotations__ WindowsError get_ipython display
"""
_ALWAYS = frozenset((*dir(builtins), *_EVERYWHERE.split()))


class GuardError(Exception):
    """The new text would be worse than the old one; the text says how."""


def check_output(
    old: str,
    new: str,
    *,
    scopes: ScopeTree | None = None,
    parsed: tuple[cst.Module, ScopeTree] | None = None,
    near: Source | None = None,
    cells: bool = False,
) -> tuple[cst.Module, ScopeTree]:
    """Parse, compile and look for undefined names; return the parsed result.

    A name counts as undefined only if the old text had it defined or did not
    use it: a file's own mistakes are not ours to refuse. ``scopes`` are those of
    the old text, ``parsed`` the new text's module and scopes where they are at hand,
    ``near`` another text of the file that the new one is parsed beside.
    Notebooks (``cells``) may await at top level.
    """
    try:
        if parsed is not None:
            module = parsed[0]
        else:
            module = parse(new) if near is None else near.with_text(new).module
    except (cst.ParserSyntaxError, cst.CSTValidationError, RecursionError) as error:
        raise GuardError(f"the rewrite does not parse: {error}") from None
    problem = _problem(new, cells)
    if problem is not None and _problem(old, cells) is None:
        raise GuardError(f"the rewrite does not compile: {problem}")
    found = parsed[1] if parsed is not None else build_scopes(module)
    fresh = undefined_names(found)
    if fresh:
        known = undefined_names(scopes or build_scopes(parse(old)))
        missing = sorted(fresh - known)
        if missing:
            raise GuardError("the rewrite uses undefined names: " + ", ".join(missing))
    early = unbound_names(found)
    if early:
        early -= unbound_names(scopes or build_scopes(parse(old)))
    if early:
        names = ", ".join(sorted(early))
        raise GuardError(f"the rewrite uses names before they have a value: {names}")
    return module, found


def unbound_names(tree: ScopeTree) -> set[str]:
    """Names that a scope reads before the first of its own places that binds them."""
    early: set[str] = set()
    for node, (scope, order) in tree.loads.items():
        name = node.value
        if name in early or scope.kind.value not in ("module", "function"):
            continue
        bindings = scope.bindings.get(name)
        if not bindings or name in scope.global_names or name in scope.nonlocal_names:
            continue
        if scope.parent is None and name in _ALWAYS:
            continue
        if all(binding.order > order for binding in bindings):
            early.add(name)
    return early


def undefined_names(tree: ScopeTree) -> set[str]:
    """Names that are read somewhere and bound nowhere they could come from."""
    missing: set[str] = set()
    for node, (start, _) in tree.loads.items():
        name = node.value
        if name in _ALWAYS or name in missing or _OWN_NAME.match(name):
            continue
        scope = start.module if name in start.global_names else start
        current = scope
        while True:
            if name in current.bindings and (
                current is scope or current.kind.value != "class"
            ):
                break
            if current.star_imports:
                break
            if current.parent is None:
                missing.add(name)
                break
            current = current.parent
    return missing


def _problem(text: str, cells: bool) -> str | None:
    import ast

    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if cells else 0
    if cells:
        # Each cell is compiled alone in a notebook; __future__ imports may
        # stand in any of them, so they are not this check's business.
        text = re.sub(r"(?m)^from __future__ import .*$", "pass", text)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<rewrite>", "exec", flags=flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return str(error)
    return None
