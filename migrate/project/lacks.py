"""Names in a module that today's TensorFlow, NumPy or Python do not have.

What a ``try`` or a condition guards is not looked at: such code has an answer of its
own. A name inside of a function or class matters only where that is used, which the
module alone does not tell: other files may use it, or nobody.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmigrate.compat.bygone_names import ADVICE, PACKAGES, RENAMED

from ..names.dotted import imported_names
from ..names.nodes import children, walk
from ..names.resolver import Resolver
from ..names.scopes import Scope, ScopeTree, Use
from ..names.surface import gone
from ..report.model import Lack
from .guard import GuardError
from .reached import reached

_TODAY = "TensorFlow 2.21"
# Names that Python 2 had without an import.
_OF_PYTHON_2 = (
    "basestring", "cmp", "execfile", "long", "raw_input", "reduce", "reload", "unichr",
    "unicode", "xrange",
)  # fmt: skip


def check_present(resolver: Resolver) -> None:
    """Raise where a module that holds a program surely stops at a missing name."""
    tree = resolver.scopes
    names = {node.value for node in tree.loads}
    classes = {
        scope.node.name.value
        for scope in tree.opened.values()
        if isinstance(scope.node, cst.ClassDef)
    }
    for _, what, owner in _missing(resolver):
        if owner is None or owner in names or owner in classes:
            what = gone(what) or what
            raise GuardError(f"`{what}` stays, which {_maker(what)} does not have")


def lacks_of(resolver: Resolver) -> Iterator[tuple[cst.CSTNode, Lack]]:
    """What a module names in vain, and where; the place is still to be said."""
    users: dict[str, set[str | None]] | None = None
    for node, what, owner in _missing(resolver):
        users = _users(resolver.scopes) if users is None else users
        ways = _ways_to(owner, users)
        if None in ways:
            ways = set()
        names = frozenset(name for name in ways if name is not None)
        yield node, Lack("", what, _maker(what), names)


def _maker(dotted: str) -> str:
    package = dotted.partition(".")[0]
    if dotted in _OF_PYTHON_2:
        return "Python 3"
    if package == "numpy":
        return "NumPy"
    return "Python" if package in PACKAGES else _TODAY


def _missing(resolver: Resolver) -> Iterator[tuple[cst.CSTNode, str, str | None]]:
    """Each missing name: where, which, and the outermost definition around it."""
    tree = resolver.scopes
    plain = _unguarded(tree)
    for item in tree.imports:
        if item.guarded or item.statement not in plain:
            continue
        for path in imported_names(item.node):
            what = _gone(path)
            if what is not None:
                yield item.node, what, _owner(item.scope)
    chosen: set[cst.CSTNode] | None = None
    for use in tree.uses:
        if use.statement in plain:
            what = _gone_use(use, resolver)
            if what is not None and chosen is None:
                chosen = _chosen(tree)
            if what is not None and use.node not in (chosen or ()):
                yield use.node, what, _owner(use.scope)


def _gone_use(use: Use, resolver: Resolver) -> str | None:
    """``np.float.max`` is gone for ``np.float``: every part of a chain is asked for."""
    root = use.root
    if root is not None and root.value in _OF_PYTHON_2:
        known = resolver.bindings(root) or resolver.scopes.module_scope.star_imports
        return None if known else root.value
    node: cst.BaseExpression = use.node
    while isinstance(node, (cst.Name, cst.Attribute)):
        dotted = resolver.qualified(node)
        if dotted is None:
            return None
        what = _gone(dotted)
        if what is not None and _is_lack_of_another(use.node, resolver):
            return None
        if what is not None or not isinstance(node, cst.Attribute):
            return what
        node = node.value
    return None


def _is_lack_of_another(node: cst.BaseExpression, resolver: Resolver) -> bool:
    """Another module of the project binds what is gone, and lacks it."""
    part = resolver.made_elsewhere(node)
    dotted = resolver.qualified(part) if part is not None else None
    return dotted is not None and _gone(dotted) is not None


def _gone(dotted: str) -> str | None:
    if dotted in RENAMED or dotted in ADVICE or gone(dotted) is not None:
        return dotted
    return None


def _unguarded(tree: ScopeTree) -> set[cst.CSTNode]:
    """Statements that run whenever what they stand in does."""
    kept: set[cst.CSTNode] = set()
    pending: list[cst.CSTNode] = [tree.module_scope.node]
    while pending:
        node = pending.pop()
        if isinstance(node, cst.Try) or (
            isinstance(node, cst.If) and not _asks_for_main(node)
        ):
            continue
        kept.add(node)
        if not isinstance(node, cst.SimpleStatementLine):
            pending += children(node)
    return kept.intersection(tree.statements)


def _chosen(tree: ScopeTree) -> set[cst.CSTNode]:
    """Nodes of which a condition within an expression says whether they run."""
    return {
        inner
        for node in walk(tree.module_scope.node, cst.IfExp)
        for part in (node.body, node.orelse)
        for inner in walk(part)
    }


def _asks_for_main(node: cst.If) -> bool:
    test = node.test
    return (
        isinstance(test, cst.Comparison)
        and isinstance(test.left, cst.Name)
        and test.left.value == "__name__"
    )


def _owner(scope: Scope) -> str | None:
    """The function or class of the module that a scope belongs to, if any."""
    owner = None
    at: Scope | None = scope
    while at is not None:
        if isinstance(at.node, (cst.FunctionDef, cst.ClassDef)):
            owner = at.node.name.value
        at = at.parent
    return owner


def _users(tree: ScopeTree) -> dict[str, set[str | None]]:
    """For each name that a module reads, the definitions that read it."""
    found: dict[str, set[str | None]] = {}
    for node, (scope, _) in tree.loads.items():
        found.setdefault(node.value, set()).add(_owner(scope))
    return found


def _ways_to(owner: str | None, users: dict[str, set[str | None]]) -> set[str | None]:
    """The definitions from which one is reached; None for the module's own code."""

    def near(one: str | None) -> set[str | None]:
        return users.get(one, set()) if one is not None else set()

    return {*reached([owner], near)}
