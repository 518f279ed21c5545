"""The module under analysis, as rules see it: text, places, names to spell."""

from __future__ import annotations

from functools import cached_property

import libcst as cst

from ..names.dotted import imported_names
from ..names.names import canonical
from ..names.nodes import walk
from ..names.resolver import Resolver
from ..names.scopes import Scope, ScopeKind
from ..names.table import in_compat_v1
from ..project.positions import Places, Span, Unfaithful
from ..project.text import Edit, Lines

_PLAIN, _V1 = "tensorflow", "tensorflow.compat.v1"
_WRITER = "tensorflow.summary.create_file_writer"


class Context:
    """Answers about one parsed module; collects imports the edits need.

    ``helps``: a program on TensorFlow uses the module, which names none of it.
    """

    def __init__(
        self, text: str, module: cst.Module, resolver: Resolver, helps: bool = False
    ) -> None:
        self.text = text
        self.module = module
        self.resolver = resolver
        self.helps = helps
        self.needs_tf: str | None = None
        self._roots: dict[Scope, tuple[str, str]] = {}

    @cached_property
    def lines(self) -> Lines:
        """Offsets of the text."""
        return Lines(self.text)

    @cached_property
    def writes_events(self) -> bool:
        """The module has a writer of TF2, which TF1's summaries know nothing of."""
        return any(
            self.resolver.qualified(use.node) == _WRITER
            for use in self.resolver.scopes.uses
        )

    @cached_property
    def knows_tensorflow(self) -> bool:
        """The module names TensorFlow itself."""
        scopes = self.resolver.scopes
        return any(imports_tensorflow(use.node) for use in scopes.imports) or any(
            self.resolver.resolve(u.root) == "tf" for u in scopes.uses if u.root
        )

    # -- places -------------------------------------------------------------

    @cached_property
    def _places(self) -> Places:
        places = self.resolver.about(Places)
        if places.lines.text != self.text:
            raise Unfaithful
        return places

    def span(self, node: cst.CSTNode) -> Span:
        """Start and end offset of a node, without white space around it."""
        return self._places[node]

    def source(self, node: cst.CSTNode) -> str:
        """The text of a node as it stands."""
        return self.text[slice(*self.span(node))]

    def replace(self, node: cst.CSTNode, new: str) -> Edit:
        """An edit that puts ``new`` in place of a node."""
        start, end = self.span(node)
        return Edit(start, end, new)

    def insert_before(self, node: cst.CSTNode, new: str) -> Edit:
        """An edit that inserts before a node (and before its parentheses)."""
        start, _ = self.outer_span(node)
        return Edit(start, start, new)

    def insert_after(self, node: cst.CSTNode, new: str) -> Edit:
        """An edit that inserts after a node (and after its parentheses)."""
        _, end = self.outer_span(node)
        return Edit(end, end, new)

    def outer_span(self, node: cst.CSTNode) -> Span:
        """Like ``span``, with the node's own parentheses."""
        start, end = self.span(node)
        lpar, rpar = getattr(node, "lpar", ()), getattr(node, "rpar", ())
        if lpar:
            start = self.span(lpar[0])[0]
        if rpar:
            end = self.span(rpar[-1])[1]
        return start, end

    def scope_of(self, node: cst.CSTNode) -> Scope:
        """The scope an expression stands in, as the first name in it tells."""
        scopes = self.resolver.scopes
        loads = (scopes.loads.get(name) for name in walk(node, cst.Name))
        return next((load[0] for load in loads if load), scopes.module_scope)

    # -- names ----------------------------------------------------------------

    def spell(self, target: str, scope: Scope, near: cst.Name | None = None) -> str:
        """How to write a TF2 symbol (``tf.io.read_file``) at a place.

        Uses the module's own name for TensorFlow when it is visible there;
        otherwise asks for an ``import tensorflow as tf``.
        """
        name, dotted = self._root(scope, near)
        if dotted == _V1:
            if target.startswith("tf.compat.v1."):
                return name + target.removeprefix("tf.compat.v1")
            if in_compat_v1(target):
                return name + target[2:]
        if dotted == _PLAIN:
            return name + target[2:]
        return self._imported_name() + target[2:]

    def _root(self, scope: Scope, near: cst.Name | None) -> tuple[str, str]:
        if near is not None:
            dotted = self.resolver.qualified(near)
            if dotted in (_PLAIN, _V1):
                return near.value, str(dotted)
        if scope not in self._roots:
            self._roots[scope] = self._find_root(scope)
        return self._roots[scope]

    def _find_root(self, scope: Scope) -> tuple[str, str]:
        """A name for TensorFlow visible from ``scope``, plain first; none: empty."""
        found: dict[str, str] = {}
        current: Scope | None = scope
        hidden: set[str] = set()
        while current is not None:
            if current is scope or current.kind is not ScopeKind.CLASS:
                for name, bound in current.bindings.items():
                    if name not in hidden and len(bound) == 1 and not bound[0].relative:
                        found.setdefault(bound[0].target or "", name)
                hidden |= {*current.bindings}
            current = current.parent
        path = next((one for one in (_PLAIN, _V1) if one in found), "")
        return found.get(path, ""), path

    def _imported_name(self) -> str:
        if self.needs_tf is None:
            scopes = self.resolver.scopes
            taken = {name for one in scopes.opened.values() for name in one.bindings}
            # A name that is read but bound nowhere here (a star import may bring
            # it) must not get a new meaning.
            taken |= {name.value for name in scopes.loads}
            self.needs_tf = next(
                n for n in ("tf", "tf2", "tensorflow") if n not in taken
            )
        return self.needs_tf


def imports_tensorflow(node: cst.Import | cst.ImportFrom) -> bool:
    """Whether an import statement names a module of TensorFlow."""
    return any(canonical(path) is not None for path in imported_names(node))
