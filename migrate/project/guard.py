"""What new text must pass before it may replace a file."""

from __future__ import annotations

import builtins
import re
import warnings
from collections.abc import Iterable

import libcst as cst

from ..symbols.dotted import import_path
from ..symbols.resolver import Resolver
from ..symbols.scope_builder import build_scopes
from ..symbols.scopes import ScopeTree
from ..symbols.surface import gone
from .parsing import parse

__all__ = ["GuardError", "check_output", "check_present"]

_OWN_NAME = re.compile(r"__tfmigrate_(?:(?:cell|magic)_\d+|new_cell)__\Z")
_ALWAYS = frozenset(dir(builtins)) | {
    "__file__",
    "__name__",
    "__doc__",
    "__path__",
    "__package__",
    "__spec__",
    "__loader__",
    "__builtins__",
    "__class__",
    "__module__",
    "__qualname__",
    "__annotations__",
    "WindowsError",
    "get_ipython",
    "display",
}


class GuardError(Exception):
    """The new text would be worse than the old one; the text says how."""


def check_output(
    old: str,
    new: str,
    *,
    scopes: ScopeTree | None = None,
    parsed: tuple[cst.Module, ScopeTree] | None = None,
    cells: bool = False,
) -> tuple[cst.Module, ScopeTree]:
    """Parse, compile and look for undefined names; return the parsed result.

    A name counts as undefined only if the old text had it defined or did not
    use it: a file's own mistakes are not ours to refuse. ``scopes`` are those of
    the old text, ``parsed`` the new text's module and scopes where they are at hand.
    Notebooks (``cells``) may await at top level.
    """
    try:
        module = parsed[0] if parsed is not None else parse(new)
    except (cst.ParserSyntaxError, cst.CSTValidationError, RecursionError) as error:
        raise GuardError(f"the rewrite does not parse: {error}") from None
    if _compiles(old, cells):
        problem = _problem(new, cells)
        if problem is not None:
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


def check_present(tree: ScopeTree, resolver: Resolver) -> None:
    """Raise where a program that moved names what today's TensorFlow does not have.

    What a ``try`` or a condition guards is not looked at, nor functions that
    nothing of the module uses.
    """
    for use in tree.imports:
        if use.guarded or use.scope.parent is not None:
            continue
        if isinstance(use.node, cst.ImportFrom):
            if use.node.relative or use.node.module is None:
                continue
            module = import_path(use.node.module)
            paths = [module]
            if not isinstance(use.node.names, cst.ImportStar):
                paths = [f"{module}.{import_path(a.name)}" for a in use.node.names]
        else:
            paths = [import_path(alias.name) for alias in use.node.names]
        for path in paths:
            _check(path)
    unguarded = [s for s in tree.statements if not isinstance(s, (cst.If, cst.Try))]
    plain = _outside_of_guards(tree, unguarded)
    for found in tree.uses:
        if found.statement in plain:
            dotted = resolver.qualified(found.node)
            if dotted is not None:
                _check(dotted)


def _check(dotted: str) -> None:
    missing = gone(dotted)
    if missing is not None:
        raise GuardError(f"`{missing}` stays, which TensorFlow 2.21 does not have")


def _outside_of_guards(
    tree: ScopeTree, statements: Iterable[cst.CSTNode]
) -> set[cst.CSTNode]:
    """Statements that surely run: in no branch, and in functions that are used."""
    read = {node.value for node in tree.loads}
    kept: set[cst.CSTNode] = set()
    pending: list[tuple[cst.CSTNode, bool]] = [(tree.module_scope.node, False)]
    while pending:
        node, method = pending.pop()
        if isinstance(node, (cst.If, cst.Try)):
            continue
        if isinstance(node, cst.FunctionDef):
            if not method and node.name.value not in read:
                continue
            method = False
        kept.add(node)
        if not isinstance(node, cst.SimpleStatementLine):
            method = method or isinstance(node, cst.ClassDef)
            pending.extend((child, method) for child in node.children)
    return kept.intersection(statements)


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


def _compiles(text: str, cells: bool) -> bool:
    return _problem(text, cells) is None


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
