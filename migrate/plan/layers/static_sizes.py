"""Sizes that a function reads from the shape of its input, before there is a batch.

``n_in = x.get_shape()[-1].value`` was known when TF1 built the graph. A Keras layer
knows it in ``build``, and makes there what depends on it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from ..code.statements import names_in
from ..code.substitute import VariableTransformer, substituted
from ..code.tree import walk
from .lifted_names import source_text

if TYPE_CHECKING:
    from .lifter import Lifter

__all__ = ["INPUT_SHAPE", "Sizes"]

INPUT_SHAPE = "input_shape"


class Sizes:
    """What one layer makes when it sees the shape of its first argument."""

    def __init__(self, lifter: Lifter, argument: str | None) -> None:
        self.lifter = lifter
        self.tree = lifter.tree
        # The argument whose shape Keras tells, where the function has one.
        self.argument = None if INPUT_SHAPE in lifter.locals else argument
        # Names of sizes, with the code that gives them in ``build``.
        self.names: dict[str, str] = {}
        self.made: list[str] = []

    def read(self, node: cst.CSTNode) -> str | None:
        """``[-1]`` of ``x.shape[-1].value`` and its other spellings."""
        if self.argument is None or not isinstance(node, cst.BaseExpression):
            return None
        inner: cst.BaseExpression = node
        if (
            isinstance(inner, cst.Call)
            and len(inner.args) == 1
            and self.tree.code(inner.func) == "int"
        ):
            inner = inner.args[0].value
        if isinstance(inner, cst.Attribute) and inner.attr.value == "value":
            inner = inner.value
        if not isinstance(inner, cst.Subscript) or len(inner.slice) != 1:
            return None
        index = inner.slice[0].slice
        if not isinstance(index, cst.Index):
            return None
        place = self.tree.code(index.value)
        if not place.lstrip("-").isdigit():
            return None
        shape = self.tree.code(inner.value)
        known = [
            f"{self.argument}{spelt}"
            for spelt in (
                ".shape",
                ".get_shape()",
                ".shape.as_list()",
                ".get_shape().as_list()",
            )
        ]
        if shape not in known or not self._is_argument(node):
            return None
        return f"[{place}]"

    def _is_argument(self, node: cst.CSTNode) -> bool:
        """The name still stands for the argument there."""
        tree, source = self.tree, self.lifter.source
        scope = tree.resolver.scopes.opened.get(source.defined)
        bindings = [] if scope is None else scope.bindings.get(self.argument or "", [])
        later = [b.node for b in bindings if not isinstance(b.node, cst.Param)]
        here = tree.line(tree.statement(node))
        if any(isinstance(a, cst.For) for a in tree.ancestors(node)):
            return len(bindings) == 1
        lines = [tree.line(tree.statement(b)) for b in later if b is not source.defined]
        return all(here <= line for line in lines)

    @cached_property
    def reads_any(self) -> bool:
        """The function reads a size: its variables are made in one place then."""
        body = self.lifter.source.defined.body
        return any(self.read(node) is not None for node in walk(body))

    def among(self, node: cst.BaseExpression) -> list[cst.CSTNode]:
        """Every such reading below a node."""
        return [child for child in walk(node) if self.read(child) is not None]

    def text(self, node: cst.BaseExpression, shape: str = INPUT_SHAPE) -> str:
        """The expression with the sizes read from ``shape``."""
        if self.argument is None:
            return source_text(node)
        changed = node.visit(_Read(self, shape))
        assert isinstance(changed, cst.BaseExpression)
        return source_text(changed)

    def is_sized(self, code: str) -> bool:
        """Source of a constructor that depends on a size."""
        return bool(names_in(code) & {INPUT_SHAPE, *self.names})

    def own(self, code: str) -> str:
        """Source as it stands in ``build``: plain values are attributes."""
        from .lifter_state import Kind

        lifter = self.lifter
        names = {n for n in names_in(code) if lifter.kinds.get(n) is Kind.CONFIG}
        lifter.call_reads |= names
        found = substituted(cst.parse_expression(code), {n: f"self.{n}" for n in names})
        return source_text(found)

    def build(self) -> str:
        """The method, or nothing."""
        if not self.made:
            return ""
        read = set().union(*(names_in(line) for line in self.made))
        lines: list[str] = []
        for name, code in reversed(self.names.items()):
            if name in read:
                lines.insert(0, f"{name} = {code}\n")
                read |= names_in(code)
        lines += [*self.made, f"super().build({INPUT_SHAPE})\n"]
        inside = "".join(
            f"    {part}" for line in lines for part in line.splitlines(keepends=True)
        )
        return f"def build(self, {INPUT_SHAPE}):\n{inside}"


class _Read(VariableTransformer):
    def __init__(self, sizes: Sizes, shape: str) -> None:
        self.sizes = sizes
        self.shape = shape

    def on_leave(
        self, original_node: cst.CSTNodeT, updated_node: cst.CSTNodeT
    ) -> cst.CSTNodeT | cst.RemovalSentinel | cst.FlattenSentinel[cst.CSTNodeT]:
        read = self.sizes.read(original_node)
        if read is not None:
            return cst.parse_expression(f"{self.shape}{read}")  # type: ignore[return-value]
        return super().on_leave(original_node, updated_node)
