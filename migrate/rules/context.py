"""The module under analysis, as rules see it: text, places, names to spell."""

from __future__ import annotations

from functools import cached_property

import libcst as cst

from ..names.resolver import Resolver
from ..names.scopes import Scope, ScopeKind
from ..names.table import in_compat_v1
from ..project.positions import Places, Span, Unfaithful
from ..project.text import Edit, Lines

_WRITER = "tensorflow.summary.create_file_writer"


class Context:
    """Answers about one parsed module; collects imports the edits need."""

    def __init__(self, text: str, module: cst.Module, resolver: Resolver) -> None:
        self.text = text
        self.module = module
        self.resolver = resolver
        self.needs_tf: str | None = None
        self._roots: dict[Scope, tuple[str, str] | None] = {}

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

    # -- names ----------------------------------------------------------------

    def spell(self, target: str, scope: Scope, near: cst.Name | None = None) -> str:
        """How to write a TF2 symbol (``tf.io.read_file``) at a place.

        Uses the module's own name for TensorFlow when it is visible there;
        otherwise asks for an ``import tensorflow as tf``.
        """
        root = self._root(scope, near)
        if root is not None:
            name, dotted = root
            if dotted == "tensorflow.compat.v1":
                if target.startswith("tf.compat.v1."):
                    return name + target[len("tf.compat.v1") :]
                if in_compat_v1(target):
                    return name + target[2:]
            elif dotted == "tensorflow":
                return name + target[2:]
        return self._imported_name() + target[2:]

    def _root(self, scope: Scope, near: cst.Name | None) -> tuple[str, str] | None:
        if near is not None:
            dotted = self.resolver.qualified(near)
            if dotted in ("tensorflow", "tensorflow.compat.v1"):
                return near.value, dotted
        if scope not in self._roots:
            self._roots[scope] = self._find_root(scope)
        return self._roots[scope]

    def _find_root(self, scope: Scope) -> tuple[str, str] | None:
        """A name for TensorFlow visible from ``scope``: plain first."""
        found: dict[str, str] = {}
        current: Scope | None = scope
        hidden: set[str] = set()
        while current is not None:
            if current is scope or current.kind is not ScopeKind.CLASS:
                for name, bound in current.bindings.items():
                    if name in hidden:
                        continue
                    hidden.add(name)
                    if not all(b.target for b in bound):
                        continue
                    paths = {b.target for b in bound if not b.relative}
                    if len(paths) == 1 and len(bound) == 1:
                        (path,) = paths
                        if path in ("tensorflow", "tensorflow.compat.v1"):
                            found.setdefault(str(path), name)
            current = current.parent
        for path in ("tensorflow", "tensorflow.compat.v1"):
            if path in found:
                return found[path], path
        return None

    def _imported_name(self) -> str:
        if self.needs_tf is None:
            taken = {
                name
                for scope in {self.resolver.scopes.module_scope, *self._all_scopes()}
                for name in scope.bindings
            }
            # A name that is read but bound nowhere here (a star import may bring
            # it) must not get a new meaning.
            taken |= {name.value for name in self.resolver.scopes.loads}
            self.needs_tf = next(
                n for n in ("tf", "tf2", "tensorflow") if n not in taken
            )
        return self.needs_tf

    def _all_scopes(self) -> set[Scope]:
        return set(self.resolver.scopes.opened.values())
